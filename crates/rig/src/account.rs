//! How does a suite speak as a service account? With a token that the server itself issues, as a pod would get it, so that what it may do
//! is what the roles bound to the account say, and nothing of the rig's.

use k8s_openapi::api::{
    authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{
    Api, Client, Config,
    api::PostParams,
    client::ClientBuilder,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use tower::util::MapRequestLayer;

use crate::{
    cluster::{ClientError, Cluster},
    rights::Recorder,
    users::User,
};

impl Cluster {
    /// A token of the service account `name` of `namespace`.
    pub async fn token(&self, namespace: &str, name: &str) -> Result<String, ClientError> {
        self.issued(namespace, name, (None, None)).await
    }

    /// The same, as a pod of that account gets it: the token says which pod that is, and on which node it runs.
    pub async fn token_of_pod(
        &self,
        namespace: &str,
        name: &str,
        pod: &str,
    ) -> Result<String, ClientError> {
        self.issued(namespace, name, (Some(pod), None)).await
    }

    /// The same for an audience that is not the server, of a pod or of none.
    pub async fn token_for(
        &self,
        audience: &str,
        (namespace, name): (&str, &str),
        pod: Option<&str>,
    ) -> Result<String, ClientError> {
        self.issued(namespace, name, (pod, Some(audience))).await
    }

    async fn issued(
        &self,
        namespace: &str,
        name: &str,
        (pod, audience): (Option<&str>, Option<&str>),
    ) -> Result<String, ClientError> {
        let bound_object_ref = pod.map(|pod| BoundObjectReference {
            api_version: Some("v1".into()),
            kind: Some("Pod".into()),
            name: Some(pod.into()),
            uid: None,
        });
        let accounts: Api<ServiceAccount> =
            Api::namespaced(self.client(User::Admin).await?, namespace);
        // An empty audience is the server's own.
        let audiences = audience.map(|audience| vec![audience.to_owned()]);
        let spec = TokenRequestSpec { bound_object_ref, audiences, ..TokenRequestSpec::default() };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let issued = accounts.create_token_request(name, &PostParams::default(), &request).await?;
        Ok(issued.status.and_then(|status| status.token).unwrap_or_default())
    }

    /// A client that speaks as the service account `name` of `namespace`, and notes every right it uses.
    pub async fn account(
        &self,
        namespace: &str,
        name: &str,
        recorder: &Recorder,
    ) -> Result<Client, ClientError> {
        let token = self.token(namespace, name).await?;
        self.bearer(token, recorder).await
    }

    /// A client that speaks with a token, and notes every right it uses.
    pub async fn bearer(&self, token: String, recorder: &Recorder) -> Result<Client, ClientError> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig(User::Admin))?;
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        config.auth_info = AuthInfo { token: Some(token.into()), ..AuthInfo::default() };
        // A request that is sent again by the client itself is not the program's.
        config.default_retry = false;
        let recorder = recorder.clone();
        let note = MapRequestLayer::new(move |request: http::Request<_>| {
            recorder.note(&request);
            request
        });
        Ok(ClientBuilder::try_from(config)?.with_layer(&note).build())
    }
}
