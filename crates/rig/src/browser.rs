//! How does a test look at a page as people do? With a real browser that is spoken to over a pipe.
//!
//! Chromium takes commands of its own protocol on descriptor 3 and answers on 4, as JSON that ends in NUL. A shell puts two named pipes there,
//! so that this needs neither a port nor a crate.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::programs::Missing;

/// How long a browser may take to answer. The machine may be busy; one that is silent for longer is broken.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a page may take until it is as expected, in milliseconds.
const SOON: u32 = 45_000;

const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --force-color-profile=srgb \
    --remote-debugging-pipe";

/// A browser; it ends when dropped.
#[derive(Debug)]
pub struct Browser {
    shell: Child,
    commands: File,
    told: Receiver<Value>,
    events: Vec<Value>,
    next: u64,
    _folder: TempDir,
}

/// A page in it, with cookies of its own.
#[derive(Clone, Debug)]
pub struct Tab {
    session: String,
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How wide the window is.
    pub width: u32,
    /// How high.
    pub height: u32,
    /// Whether the person prefers dark colours.
    pub dark: bool,
}

impl Browser {
    /// Starts one. `environment` answers like `std::env::var_os`.
    pub fn start(environment: impl Fn(&str) -> Option<OsString>) -> Result<Self, Missing> {
        let program = find(&environment).ok_or(Missing::Browser)?;
        let folder = tempfile::tempdir().map_err(Missing::Folder)?;
        let (commands, answers) = (folder.path().join("commands"), folder.path().join("answers"));
        for pipe in [&commands, &answers] {
            let made = Command::new("mkfifo").arg("-m").arg("600").arg(pipe).status();
            made.map_err(Missing::Folder)?;
        }
        let line =
            format!("exec \"$0\" {FLAGS} --user-data-dir=\"$1\" about:blank 3<\"$2\" 4>\"$3\"");
        let shell = Command::new("sh")
            .args(["-c", &line])
            .arg(program)
            .arg(folder.path().join("profile"))
            .args([&commands, &answers])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(Missing::Folder)?;
        // In the order in which the shell opens them: each waits for the other side.
        let commands = OpenOptions::new().write(true).open(&commands).map_err(Missing::Folder)?;
        let answers = File::open(&answers).map_err(Missing::Folder)?;
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Self { shell, commands, told, events: Vec::new(), next: 0, _folder: folder })
    }

    /// A new page with cookies of its own.
    pub fn tab(&mut self, look: Look) -> Tab {
        let context = self.ask(None, "Target.createBrowserContext", &json!({}));
        let context = context["browserContextId"].clone();
        let made = json!({"url": "about:blank", "browserContextId": context});
        let target = self.ask(None, "Target.createTarget", &made)["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.ask(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        let tab = Tab { session };
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"] {
            self.of(&tab, &format!("{domain}.enable"), &json!({}));
        }
        self.look(&tab, look);
        tab
    }

    /// Looks at a page otherwise.
    pub fn look(&mut self, tab: &Tab, look: Look) {
        let Look { width, height, dark } = look;
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.of(tab, "Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.of(tab, "Emulation.setEmulatedMedia", &features);
    }

    /// Goes to an address, and waits until the page is there.
    pub fn go(&mut self, tab: &Tab, address: &str) {
        self.events.clear();
        self.of(tab, "Page.navigate", &json!({"url": address}));
        self.event(tab, "Page.loadEventFired");
    }

    /// Waits until a page has been drawn: a browser drops keys that come before the first frame of a page.
    pub fn drawn(&mut self, tab: &Tab) {
        let frames =
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
        let asked =
            json!({"expression": format!("{frames}.then(() => true)"), "awaitPromise": true});
        self.of(tab, "Runtime.evaluate", &asked);
    }

    /// What an expression gives in a page; what it promises, if it is a promise.
    ///
    /// # Panics
    /// When it throws.
    #[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
    pub fn eval(&mut self, tab: &Tab, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.of(tab, "Runtime.evaluate", &asked);
        if let Some(thrown) = answer.get("exceptionDetails") {
            panic!("{expression}: {thrown}");
        }
        answer["result"]["value"].clone()
    }

    /// Does something that leads to another page, and waits until that is there; also where scripts do not run.
    pub fn follow(&mut self, tab: &Tab, expression: &str) {
        self.events.clear();
        self.eval(tab, expression);
        self.event(tab, "Page.loadEventFired");
    }

    /// Waits until an expression holds in a page, also across a load.
    ///
    /// # Panics
    /// When it does not soon.
    #[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
    pub fn until(&mut self, tab: &Tab, condition: &str) {
        let look = format!(
            "new Promise((done) => {{ const end = Date.now() + {SOON}; const look = () => {{ \
             let holds = false; try {{ holds = Boolean({condition}); }} catch (_) {{}} \
             if (holds || Date.now() > end) done(holds); else setTimeout(look, 20); }}; look(); }})"
        );
        let asked = json!({"expression": look, "awaitPromise": true, "returnByValue": true});
        // A page that is left in the meantime forgets what it promised: the next one is asked.
        for _ in 0..5 {
            let answer = self.of(tab, "Runtime.evaluate", &asked);
            match answer.pointer("/result/value").and_then(Value::as_bool) {
                Some(true) => return,
                Some(false) => break,
                None => {}
            }
        }
        let text =
            self.eval(tab, "document.title + '\\n' + document.body.innerText.slice(0, 3000)");
        panic!(
            "it did not come to hold that {condition}; the page says: {}",
            text.as_str().unwrap_or_default()
        );
    }

    /// Presses a key, as `Tab`, `Enter` or a letter.
    pub fn key(&mut self, tab: &Tab, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            "PageUp" => (33, ""),
            "PageDown" => (34, ""),
            "End" => (35, ""),
            "Home" => (36, ""),
            letter => (0, letter),
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let event = |kind: &str| json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text});
        self.of(tab, "Input.dispatchKeyEvent", &event(down));
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.of(tab, "Input.dispatchKeyEvent", &up);
    }

    /// A picture of the whole page, as a PNG.
    pub fn picture(&mut self, tab: &Tab, file: &Path) {
        let whole = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.of(tab, "Page.captureScreenshot", &whole);
        let text = picture["data"].as_str().unwrap_or_default();
        if let Some(folder) = file.parent() {
            let _ = fs::create_dir_all(folder);
        }
        let _ = fs::write(file, decoded(text));
    }

    /// Every error that the browser logged since the last page was asked for.
    pub fn errors(&mut self, tab: &Tab) -> Vec<String> {
        // Whatever was told before this answer has arrived with it.
        self.eval(tab, "1");
        let of_tab = |event: &&Value| event["sessionId"] == *tab.session;
        let said = self.events.iter().filter(of_tab).filter_map(|event| {
            let entry = &event["params"]["entry"];
            let logged = event["method"] == "Log.entryAdded" && entry["level"] == "error";
            let thrown = event["method"] == "Runtime.exceptionThrown";
            (logged || thrown).then(|| event["params"].to_string())
        });
        said.collect()
    }

    /// Asks something of the page's protocol.
    pub fn of(&mut self, tab: &Tab, method: &str, parameters: &Value) -> Value {
        self.ask(Some(&tab.session), method, parameters)
    }

    #[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
    fn ask(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        let sent = self.commands.write_all(format!("{command}\0").as_bytes());
        sent.unwrap_or_else(|error| panic!("the browser is gone: {error}"));
        loop {
            let message = self.hear(method);
            if message["id"] == id {
                let failed = message.get("error").is_some() && method != "Runtime.evaluate";
                assert!(!failed, "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn event(&mut self, tab: &Tab, method: &str) {
        let is = |event: &Value| event["method"] == method && event["sessionId"] == *tab.session;
        while !self.events.iter().any(is) {
            let message = self.hear(method);
            self.events.push(message);
        }
    }

    #[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
    fn hear(&mut self, what: &str) -> Value {
        let told = self.told.recv_timeout(PATIENCE);
        told.unwrap_or_else(|error| panic!("the browser says nothing to {what}: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// The browser that the environment names, or one that is on the path.
fn find(environment: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = environment("TIDEGATE_BROWSER").filter(|named| !named.is_empty());
    if let Some(named) = named {
        return Some(PathBuf::from(named)).filter(|program| program.is_file());
    }
    let path = environment("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let usual = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = usual.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|program| program.is_file())
}

/// What base64 stands for.
pub fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut kept, mut bits) = (Vec::new(), 0_u32, 0);
    for part in text.bytes().filter_map(value) {
        kept = kept << 6 | u32::from(part);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((kept >> bits & 0xff) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_arrives_as_it_was_taken() {
        assert_eq!(decoded("UE5HDQo="), b"PNG\r\n");
        assert_eq!(decoded("AAEC/w=="), [0, 1, 2, 255]);
    }

    #[test]
    fn a_browser_that_is_not_there_is_missing() {
        let nothing = |name: &str| (name == "PATH").then(|| OsString::from("/nowhere"));
        assert!(matches!(Browser::start(nothing), Err(Missing::Browser)));
    }
}
