//! A client for an S3 server: endpoint, region, credentials and limits.

use std::io;
use std::time::Duration;

use aws_config::environment::region::EnvironmentVariableRegionProvider;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileRegionProvider, load};
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_runtime::env_config::file::EnvConfigFiles;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{
    Builder, Credentials, ProvideCredentials, Region, RequestChecksumCalculation, ResponseChecksumValidation,
    StalledStreamProtectionConfig,
};
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder as HttpBuilder, Connector};
use aws_types::os_shim_internal::{Env, Fs};
use aws_types::service_config::ServiceConfigKey;
use reqwest::Url;

use crate::{StoreError, StoreOptions, roots, transport};

const CONNECT: Duration = Duration::from_secs(10);
/// The region of servers that have only one.
const USUAL: Region = Region::from_static("us-east-1");

/// A client, and the endpoint where it is not Amazon's.
pub(crate) async fn connect(place: &str, options: &StoreOptions) -> Result<(Client, Option<String>), StoreError> {
    let refused = |remedy, source: String| StoreError::Denied {
        what: "to be opened".to_owned(),
        place: place.to_owned(),
        remedy,
        source: Some(io::Error::other(source)),
    };
    let region = region(options).await;
    let shared = shared(options, region.clone()).await;
    let endpoint = options.endpoint.clone().or_else(|| configured_endpoint(&shared));
    let endpoint = endpoint.map(|text| checked(&text)).transpose().map_err(|told| {
        refused(
            "the endpoint is no URL of a server; give it as https://HOST:PORT with --s3-endpoint or AWS_ENDPOINT_URL",
            told,
        )
    })?;
    // Other servers than Amazon's seldom have more than one.
    let region = region.or(endpoint.is_some().then_some(USUAL)).ok_or_else(|| {
        refused("give the bucket's region with --s3-region or AWS_REGION", "no region was found".to_owned())
    })?;
    // A missing credential is told now, with its remedy, not with the first request.
    if options.keys.is_none() {
        check_profile().await.map_err(|(remedy, told)| refused(remedy, told))?;
        let none = "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where the machine has a role";
        let provider = shared.credentials_provider().ok_or_else(|| refused(none, "no provider".to_owned()))?;
        provider.provide_credentials().await.map_err(|e| refused(none, transport::chain(&e)))?;
    }
    let mut config = Builder::from(&shared)
        .region(region)
        .force_path_style(endpoint.is_some())
        // What S3 has asked for since 2025 by default, a trailing checksum in a chunked body, older radosgw and
        // others do not read. The bytes are safe without it: the request is signed with their SHA-256.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
    config.set_endpoint_url(endpoint.clone());
    if let Some(keys) = &options.keys {
        config = config.credentials_provider(Credentials::new(&keys.id, &keys.secret, None, None, "options"));
    }
    Ok((Client::from_conf(config.build()), endpoint))
}

/// Refuses a profile that is named and is not there, with the remedy and what was found. The SDK passes over it, and takes
/// whatever the machine has beside it.
async fn check_profile() -> Result<(), (&'static str, String)> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    // Keys go before profiles.
    let Some(profile) = set("AWS_PROFILE").filter(|_| set("AWS_ACCESS_KEY_ID").is_none()) else { return Ok(()) };
    let places = [("AWS_CONFIG_FILE", "~/.aws/config"), ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")];
    let places = places.map(|(name, usual)| set(name).unwrap_or_else(|| usual.to_owned())).join(" and ");
    match load(&Fs::real(), &Env::real(), &EnvConfigFiles::default(), None).await {
        Err(error) => Err((
            "the files of profiles cannot be read; put them right, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            transport::chain(&error),
        )),
        Ok(found) if found.get_profile(&profile).is_none() => Err((
            "there is no such profile; set AWS_PROFILE to one that there is, unset it, or make it with `aws configure --profile NAME`",
            format!("AWS_PROFILE is {profile:?}, which is not in {places}"),
        )),
        Ok(_) => Ok(()),
    }
}

/// The region of the options, the environment or the profile files.
async fn region(options: &StoreOptions) -> Option<Region> {
    let given = RegionProviderChain::first_try(options.region.clone().map(Region::new));
    given.or_else(EnvironmentVariableRegionProvider::new()).or_else(ProfileFileRegionProvider::new()).region().await
}

/// What the environment and the profile files say, with our client and our limits.
async fn shared(options: &StoreOptions, region: Option<Region>) -> SdkConfig {
    let client = HttpBuilder::new().build_with_connector_fn(|settings, _| {
        // The SDK takes it ill when there are no root certificates at all; then no server is trusted.
        let trust = TrustStore::empty().with_native_roots(roots::any());
        let tls = TlsContext::builder().with_trust_store(trust).build().unwrap_or_default();
        let connector = Connector::builder().tls_provider(Provider::Rustls(CryptoMode::Ring)).tls_context(tls);
        let connector = connector.proxy_config(ProxyConfig::from_env());
        match settings {
            Some(settings) => connector.connector_settings(settings.clone()).build(),
            None => connector.build(),
        }
    });
    let limits = TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(options.timeout).build();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(client)
        // Without any, the SDK would look for one where only machines of Amazon's have it.
        .region(region.unwrap_or(USUAL))
        .timeout_config(limits)
        // Ours are around the store, with a patience that a user sets; two would multiply.
        .retry_config(RetryConfig::disabled())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .load()
        .await
}

/// The endpoint of the environment or the profile, for S3 alone or for all services.
fn configured_endpoint(shared: &SdkConfig) -> Option<String> {
    let key = ServiceConfigKey::builder().service_id("S3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
    let for_s3 = key.ok().and_then(|key| shared.service_config()?.load_config(key));
    // Set to nothing is not set: so do files of environments that leave a value out.
    for_s3.or_else(|| shared.endpoint_url().map(str::to_owned)).filter(|url| !url.is_empty())
}

/// An endpoint that can be shown: a URL of a server without a password in it.
fn checked(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|e| e.to_string())?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("it holds credentials, which belong into the environment".to_owned());
    }
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("it is neither http:// nor https://".to_owned());
    }
    Ok(text.trim_end_matches('/').to_owned())
}
