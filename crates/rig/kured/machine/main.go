// A machine for one kured: a network and a /run of its own, as a pod on a node has them. kured reads the token of its account from /run, reaches the
// API server by the environment alone, and always answers on port 8080, so two of them need two of these.
//
// It runs as the first process of new namespaces (user, mount, network, process): what kured takes for the host, which it enters by the
// namespaces of process 1, is this. Nothing of it touches the machine that the test runs on. The API server is reached through a socket of
// the file system, which namespaces of networks do not part.
//
// Usage: machine SOCKET TOKEN CA PROGRAM [ARGUMENT...]
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"
)

const account = "/var/run/secrets/kubernetes.io/serviceaccount"

func main() {
	if len(os.Args) < 5 {
		end("usage: machine SOCKET TOKEN CA PROGRAM [ARGUMENT...]", nil)
	}
	socket, token, authority, program := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	read := func(path string) []byte {
		bytes, problem := os.ReadFile(path)
		end("cannot read "+path, problem)
		return bytes
	}
	files := map[string][]byte{"token": read(token), "ca.crt": read(authority)}
	end("cannot mount a /run of its own", syscall.Mount("none", "/run", "tmpfs", 0, ""))
	end("cannot make "+account, os.MkdirAll(account, 0o700))
	for name, bytes := range files {
		end("cannot write "+name, os.WriteFile(filepath.Join(account, name), bytes, 0o600))
	}
	end("cannot start the loopback network", loopback())
	listener, problem := net.Listen("tcp", "127.0.0.1:6443")
	end("cannot listen", problem)
	go serve(listener, socket)

	// kured ends when its lock is refused, and the kubelet starts it again. That waits longer each time; here nobody has to.
	for {
		kured := exec.Command(program, os.Args[5:]...)
		kured.Env = append(os.Environ(), "KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=6443")
		kured.Stdout, kured.Stderr = os.Stdout, os.Stderr
		fmt.Fprintln(os.Stderr, "machine: kured ended:", kured.Run())
		time.Sleep(time.Second)
	}
}

// A new network has a loopback device that is down.
func loopback() error {
	handle, problem := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if problem != nil {
		return problem
	}
	defer syscall.Close(handle)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	_, _, code := syscall.Syscall(syscall.SYS_IOCTL, uintptr(handle), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	if code != 0 {
		return code
	}
	return nil
}

// Carries each connection to the socket and back.
func serve(listener net.Listener, socket string) {
	for {
		inside, problem := listener.Accept()
		end("cannot accept", problem)
		go func() {
			defer inside.Close()
			outside, problem := net.Dial("unix", socket)
			if problem != nil {
				fmt.Fprintln(os.Stderr, "machine:", problem)
				return
			}
			defer outside.Close()
			go func() {
				io.Copy(outside, inside)
				outside.(*net.UnixConn).CloseWrite()
			}()
			io.Copy(inside, outside)
		}()
	}
}

func end(what string, problem error) {
	if problem != nil {
		what = fmt.Sprintf("%s: %v", what, problem)
	}
	if problem != nil || len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "machine:", what)
		os.Exit(1)
	}
}
