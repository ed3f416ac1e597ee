//! Bodies that cannot be read, or should not be.

use super::requests::{
    APPLY, Bad, JSON, JSON_PATCH, MAPS, MERGE, PROTOBUF, STRATEGIC, TIDES, with_body,
};

pub(super) fn malformed_json(all: &mut Vec<Bad>) {
    let deep = "[".repeat(20_000);
    let bodies: [(&str, &[u8]); 12] = [
        ("open brace", b"{"),
        ("nothing", b""),
        ("list", b"[]"),
        ("null", b"null"),
        ("number", b"7"),
        ("not UTF-8", b"{\"apiVersion\":\"\xff\xfe\"}"),
        ("two documents", b"{} {}"),
        ("trailing comma", b"{\"apiVersion\":\"v1\",}"),
        ("no kind", b"{\"apiVersion\":\"v1\"}"),
        ("kind of a wrong type", b"{\"apiVersion\":\"v1\",\"kind\":7}"),
        ("metadata of a wrong type", br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}"#),
        ("twenty thousand levels", deep.as_bytes()),
    ];
    for (word, body) in bodies {
        for path in [MAPS, TIDES] {
            let one = format!("{path}/a");
            with_body(all, "json", word, "POST", path, JSON, body);
            with_body(all, "json", word, "PUT", &one, JSON, body);
            with_body(all, "json", word, "PATCH", &one, MERGE, body);
            with_body(all, "json", word, "PATCH", &one, JSON_PATCH, body);
            with_body(all, "json", word, "PATCH", &format!("{one}?fieldManager=me"), APPLY, body);
        }
        with_body(all, "json", word, "PATCH", &format!("{MAPS}/a"), STRATEGIC, body);
        with_body(all, "json", word, "DELETE", &format!("{MAPS}/none"), JSON, body);
    }
}

pub(super) fn malformed_protobuf(all: &mut Vec<Bad>) {
    let bodies: [(&str, &[u8]); 6] = [
        ("nothing", b""),
        ("JSON", b"{}"),
        ("noise", b"\x00\x01\x02\x03\x04\x05"),
        ("the mark alone", b"k8s\x00"),
        ("the mark and noise", b"k8s\x00\xff\xff\xff\xff\xff"),
        ("an envelope cut short", b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Conf"),
    ];
    for (word, body) in bodies {
        with_body(all, "protobuf", word, "POST", MAPS, PROTOBUF, body);
        with_body(all, "protobuf", word, "PUT", &format!("{MAPS}/a"), PROTOBUF, body);
        // Not to custom kinds: there the real server gives no answer at all, its own function for that panics.
        with_body(all, "protobuf", word, "PATCH", &format!("{MAPS}/a"), PROTOBUF, body);
        with_body(all, "protobuf", word, "DELETE", &format!("{MAPS}/none"), PROTOBUF, body);
    }
    // An envelope for the right kind around bytes that are no such object, and one for another kind.
    let envelope = |kind: &str, raw: &[u8]| {
        let mut meta = vec![0x0a, 2];
        meta.extend(b"v1");
        meta.extend([0x12, kind.len() as u8]);
        meta.extend(kind.as_bytes());
        let mut whole = b"k8s\x00\x0a".to_vec();
        whole.push(meta.len() as u8);
        whole.extend(meta);
        whole.extend([0x12, raw.len() as u8]);
        whole.extend(raw);
        whole
    };
    for (word, body) in [
        ("noise in the envelope", envelope("ConfigMap", b"\xff\xff\xff")),
        ("another kind in the envelope", envelope("Secret", b"")),
        ("an unknown kind in the envelope", envelope("Boat", b"")),
    ] {
        with_body(all, "protobuf", word, "POST", MAPS, PROTOBUF, &body);
    }
}

pub(super) fn wrong_content_types(all: &mut Vec<Bad>) {
    for kind in [
        "text/plain",
        "application/xml",
        MERGE,
        "nonsense",
        "application/x-www-form-urlencoded",
        "",
    ] {
        for path in [MAPS, TIDES] {
            with_body(all, "content type", "an object", "POST", path, kind, b"{}");
            with_body(all, "content type", "an object", "PUT", &format!("{path}/a"), kind, b"{}");
        }
    }
    for kind in ["text/plain", JSON, "application/yaml", ""] {
        for path in [MAPS, TIDES] {
            with_body(all, "content type", "an object", "PATCH", &format!("{path}/a"), kind, b"{}");
        }
    }
    with_body(all, "content type", "an object", "PATCH", &format!("{TIDES}/a"), STRATEGIC, b"{}");
    with_body(
        all,
        "content type",
        "an object",
        "DELETE",
        &format!("{MAPS}/none"),
        "text/plain",
        b"{}",
    );
    for accepted in
        ["text/html", "image/png", "application/json;as=Boat;v=v1;g=meta.k8s.io", "nonsense"]
    {
        for path in [MAPS, TIDES] {
            let what = format!("accept, GET {path} as {accepted}");
            let headers = vec![("accept", accepted)];
            all.push(Bad { what, method: "GET", path: path.to_owned(), headers, body: Vec::new() });
        }
    }
}

pub(super) fn large_bodies(all: &mut Vec<Bad>) {
    let object = |kind: &str, field: &str, size: usize| {
        let filler = "x".repeat(size);
        let group = if kind == "Tide" { "example.com/v1" } else { "v1" };
        let text = format!(
            r#"{{"apiVersion":"{group}","kind":"{kind}","metadata":{{"name":"large"}},{field}"{filler}"}}}}"#
        );
        text.into_bytes()
    };
    let (map, tide) = (r#""data":{"k":"#, r#""spec":{"harbour":"dover","note":"#);
    let three = 3 * 1024 * 1024;
    for (word, size) in [
        ("just over 3 MiB", three),
        ("4 MiB", 4 * 1024 * 1024),
        ("1.1 MiB", 1_150_000),
        ("2 MiB", 2 * 1024 * 1024),
    ] {
        let (map, tide) = (object("ConfigMap", map, size), object("Tide", tide, size));
        with_body(all, "large", word, "POST", &format!("{MAPS}?dryRun=All"), JSON, &map);
        with_body(all, "large", word, "POST", &format!("{TIDES}?dryRun=All"), JSON, &tide);
        with_body(all, "large", word, "PATCH", &format!("{MAPS}/a?dryRun=All"), MERGE, &map);
        with_body(
            all,
            "large",
            word,
            "PATCH",
            &format!("{TIDES}/large?fieldManager=me&dryRun=All"),
            APPLY,
            &tide,
        );
        with_body(all, "large", word, "POST", MAPS, PROTOBUF, &map);
    }
    let operations = r#"{"op":"test","path":"/kind","value":"ConfigMap"},"#.repeat(10_001);
    let patch = format!("[{}]", operations.trim_end_matches(','));
    with_body(
        all,
        "large",
        "10,001 operations",
        "PATCH",
        &format!("{MAPS}/a"),
        JSON_PATCH,
        patch.as_bytes(),
    );
    let annotation =
        format!(r#"{{"metadata":{{"annotations":{{"a":"{}"}}}}}}"#, "x".repeat(262_145));
    with_body(
        all,
        "large",
        "an annotation of 256 KiB",
        "PATCH",
        &format!("{MAPS}/a"),
        MERGE,
        annotation.as_bytes(),
    );
}
