// The definitions of OpenShift that stock clusters serve, pinned. The rig takes them out of the module once per user and keeps them by the
// digest of go.sum; nothing is built.
module tidegate.dev/rig/openshift

go 1.26.0

require github.com/openshift/api v0.0.0-20251015095338-264e80a2b6e7
