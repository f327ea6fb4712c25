//! Generates the messages and services of `proto/canju/v1`, without a protocol compiler on the machine.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Asked when it runs: a program that another checkout has built is used again with the same target folder.
    let root = std::path::PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo:rerun-if-changed={}", root.display());
    let files = ["exchange", "jobs", "membership", "types"].map(|name| format!("canju/v1/{name}.proto"));
    let descriptors = protox::compile(files, [&root])?;
    tonic_prost_build::configure()
        .use_arc_self(true)
        .bytes(".canju.v1.Chunk")
        // It stands in the records of jobs; what an older record lacks is zero.
        .type_attribute(".canju.v1.Built", "#[derive(serde::Serialize, serde::Deserialize)]\n#[serde(default)]")
        .compile_fds(descriptors)?;
    Ok(())
}
