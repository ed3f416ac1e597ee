// What does a page gain by a script? It stays true without being asked for again, counts down, and hears keys.
// Everything else works without: pages are whole, and forms are forms. Nothing is decided or computed from a schedule here.
'use strict';
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // The one place where text becomes elements. What the server sends is escaped there; the page's policy lets no other place do this.
  const trusted = window.trustedTypes
    ? window.trustedTypes.createPolicy('tidegate', { createHTML: (text) => text })
    : { createHTML: (text) => text };
  const fragment = (html) => {
    const template = document.createElement('template');
    template.innerHTML = trusted.createHTML(html);
    return template.content;
  };
  const parsed = (html) => fragment(html).firstElementChild;

  // ---- The door: the code behind the # is never part of a request; it is typed into the form and sent once.
  const door = $('form[data-door]');
  if (door) {
    const enter = () => {
      const code = location.hash.slice(1);
      if (!code) return;
      history.replaceState(null, '', location.pathname);
      door.elements.code.value = code;
      door.requestSubmit();
    };
    addEventListener('hashchange', enter);
    enter();
    return;
  }
  if (!$('#light')) return;
  if (location.hash.length > 20) history.replaceState(null, '', location.pathname + location.search);

  // ---- A part of the page in the place of an older one: elements that are the same stay, so focus and selection do.
  const keyOf = (node) => (node.nodeType === 1 ? node.id || node.tagName : node.nodeName);
  function morph(old, fresh) {
    if (old.nodeType !== 1) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    // Whatever somebody is typing into stays as it is.
    if (old === document.activeElement && /^(INPUT|SELECT|TEXTAREA)$/.test(old.tagName)) return;
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const known = new Map(all(':scope > [id]', old).map((node) => [node.id, node]));
    let at = old.firstChild;
    for (const wanted of [...fresh.childNodes]) {
      let match = wanted.id ? known.get(wanted.id) : null;
      if (!match && at && !at.id && !wanted.id && keyOf(at) === keyOf(wanted)) match = at;
      if (match) {
        if (match !== at) old.insertBefore(match, at);
        else at = at.nextSibling;
        morph(match, wanted);
      } else {
        old.insertBefore(wanted, at);
      }
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  // ---- The clock of the cluster: what it said, when it said so, and how fast it runs.
  const main = $('main');
  const clock = { at: Number(main.dataset.at) * 1000, speed: Number(main.dataset.speed || 1), read: performance.now() };
  const now = () => clock.at + (performance.now() - clock.read) * clock.speed;
  const short = (seconds) => {
    const s = Math.max(0, Math.round(seconds));
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (!d && !h && !m) return `${s} s`;
    if (!d && !h) return `${m} min`;
    if (!d) return m ? `${h} h ${m} min` : `${h} h`;
    return h ? `${d} d ${h} h` : `${d} d`;
  };
  function tick() {
    for (const element of all('time[data-count]')) {
      const left = (Date.parse(element.dateTime) - now()) / 1000;
      const said = left > 0 ? `in ${short(left)}` : 'now';
      if (element.textContent !== said) element.textContent = said;
    }
  }
  setInterval(tick, 1000);

  // ---- What happens, as it happens.
  const light = $('#light');
  let source = null, wait = 0, mark = main.dataset.mark, last = Date.now();
  const say = (lost, words) => {
    light.classList.toggle('lost', lost);
    if (light.textContent !== words) light.textContent = words;
    for (const button of all('[data-needs-live]')) button.disabled = lost;
  };
  function connect() {
    if (document.hidden || source) return;
    const page = encodeURIComponent(location.pathname + location.search);
    source = new EventSource(`/live?page=${page}&mark=${encodeURIComponent(mark)}`);
    const heard = () => { last = Date.now(); wait = 0; say(false, 'live'); };
    source.addEventListener('open', heard);
    source.addEventListener('beat', heard);
    source.addEventListener('clock', (event) => {
      heard();
      const told = JSON.parse(event.data);
      Object.assign(clock, { at: told.at, speed: told.speed, read: performance.now() });
      tick();
    });
    source.addEventListener('part', (event) => {
      heard();
      const { id, html } = JSON.parse(event.data);
      const old = document.getElementById(id);
      const fresh = parsed(html);
      if (!old || !fresh) return;
      morph(old, fresh);
      tick();
    });
    source.addEventListener('page', (event) => {
      const told = JSON.parse(event.data);
      mark = told.mark;
      main.dataset.mark = mark;
      if (document.title !== told.title) document.title = told.title;
      if (told.said) $('#spoken').textContent = told.said;
    });
    source.addEventListener('gone', () => location.reload());
    source.addEventListener('error', () => {
      close();
      const since = new Date(last).toISOString().slice(11, 19);
      say(true, `not connected; what you see was true at ${since} UTC`);
      wait = Math.min(15, wait ? wait * 2 : 1);
      setTimeout(connect, wait * 1000 + Math.random() * 300);
    });
  }
  function close() { if (source) source.close(); source = null; }
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : connect()));
  addEventListener('pagehide', close);
  connect();

  // ---- The browser's own zone, offered; the server draws the times.
  const zones = $('#zones');
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zones && here && here !== 'UTC' && !all('button', zones).some((button) => button.value === here)) {
    const button = document.createElement('button');
    Object.assign(button, { name: 'zone', value: here, textContent: here.split('/').pop().replace(/_/g, ' ') });
    zones.querySelector('.segments').append(button);
  }

  // ---- What an edit would do, while it is typed. What cannot be read leaves the last preview as it is, and the page says so.
  const draft = $('form[data-preview]');
  const offerCopies = () => all('button[data-copy]').forEach((button) => { button.hidden = false; });
  if (draft) {
    let asking = null, waits = 0;
    const look = async () => {
      if (asking) asking.abort();
      asking = new AbortController();
      let answer;
      try {
        answer = await fetch(draft.action, { method: 'POST', body: new URLSearchParams(new FormData(draft)), signal: asking.signal });
        if (answer.status !== 200 && answer.status !== 409) return;
        answer = fragment(await answer.text());
      } catch {
        return;
      }
      for (const wrong of all('[id^="wrong-"]', answer)) {
        const old = document.getElementById(wrong.id);
        if (old) morph(old, wrong);
      }
      for (const field of all('[aria-describedby]', draft)) {
        const fresh = field.id && answer.getElementById(field.id);
        if (fresh) field.toggleAttribute('aria-invalid', fresh.hasAttribute('aria-invalid'));
        if (fresh && fresh.hasAttribute('aria-invalid')) field.setAttribute('aria-invalid', 'true');
      }
      morph($('#answer'), answer.getElementById('answer'));
      const fresh = answer.getElementById('preview');
      if (fresh.hasAttribute('data-unreadable')) {
        const note = $('#preview-note');
        note.hidden = false;
        note.textContent = 'This edit cannot be used. Below is the last one that could.';
        all('#preview form button').forEach((button) => { button.disabled = true; });
      } else {
        morph($('#preview'), fresh);
      }
      offerCopies();
    };
    draft.addEventListener('input', () => { clearTimeout(waits); waits = setTimeout(look, 250); });
  }
  offerCopies();
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-copy]');
    if (button) navigator.clipboard.writeText($(`#${button.dataset.copy}`).innerText).then(() => { button.textContent = 'Copied'; });
  });

  // ---- Keys.
  const go = { n: '/', c: '/calendar', r: '/resources', o: '/pools', p: '/policies', i: '/what-if', w: '/gates', h: '/history' };
  let pressed = '';
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const day = event.target.closest('.week a[data-day]');
    if (day && moved(day, event.key)) return event.preventDefault();
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const before = pressed;
    pressed = event.key;
    if (before === 'g' && go[event.key]) return location.assign(go[event.key]);
    if (event.key === '/') { event.preventDefault(); $('.search input').focus(); }
    if (event.key === '?') $('#keys').showModal();
    if (event.key === 'f' && $('a[data-key="f"]')) $('a[data-key="f"]').click();
    if (event.key === 'o' && $('a[data-key="o"]')) $('a[data-key="o"]').click();
    if (event.key === 't' && zones) {
      const buttons = all('button', zones);
      const at = buttons.findIndex((button) => button.getAttribute('aria-pressed') === 'true');
      buttons[(at + 1) % buttons.length].click();
    }
  });
  const keys = $('button[data-keys]');
  if (keys) keys.addEventListener('click', () => $('#keys').showModal());

  // The days of a calendar are one stop for Tab; arrows move between them.
  function moved(day, key) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[key];
    const days = all('.week a[data-day]');
    const at = days.indexOf(day);
    const date = new Date(`${day.dataset.day}T00:00:00Z`);
    let to = by ? at + by : -1;
    const find = (wanted) => days.findIndex((other) => other.dataset.day === wanted.toISOString().slice(0, 10));
    if (key === 'PageUp' || key === 'PageDown') {
      date.setUTCMonth(date.getUTCMonth() + (key === 'PageUp' ? -1 : 1));
      to = find(date);
    }
    const weekday = (date.getUTCDay() + 6) % 7;
    if (key === 'Home') to = at - weekday;
    if (key === 'End') to = at + 6 - weekday;
    if (!/^(Arrow|Page|Home|End)/.test(key)) return false;
    const next = days[Math.min(days.length - 1, Math.max(0, to))];
    if (!next) return true;
    days.forEach((other) => { other.tabIndex = other === next ? 0 : -1; });
    next.focus();
    return true;
  }
})();
