//go:build unix

package report

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// browser is a Chromium that is driven by the DevTools protocol over pipes: JSON messages that end
// with a 0.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	next    int
	session string
	// events are those that came, by method.
	events map[string][]json.RawMessage
}

// message is a command, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// browse starts a browser with a blank page.
func browse(t *testing.T) *browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.CommandContext(ctx, tracetest.Chromium(t), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{in, out} // descriptors 3 and 4
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from), events: map[string][]json.RawMessage{}}
	t.Cleanup(func() {
		_, _ = to.WriteString(`{"id":1000000,"method":"Browser.close"}` + "\x00")
		_, _ = io.Copy(io.Discard, from) // until it is gone
		to.Close()
		from.Close()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			t.Logf("the browser ended with %v", err)
		}
		for range 100 { // its children may still write
			if err := os.RemoveAll(profile); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	var target struct{ TargetID string }
	b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.do(domain+".enable", nil, nil)
	}
	return b
}

// read reads a message.
func (b *browser) read() (m struct {
	message
	Params json.RawMessage `json:"params"`
},
) {
	octets, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatal("the browser says nothing more: ", err)
	}
	if err := json.Unmarshal(octets[:len(octets)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events[m.Method] = append(b.events[m.Method], m.Params)
	}
	return m
}

// do gives a command and waits for its answer.
func (b *browser) do(method string, params, result any) {
	b.t.Helper()
	b.next++
	octets, err := json.Marshal(message{ID: b.next, Method: method, Params: params, Session: b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(octets, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.read()
		if m.ID != b.next {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// open opens a page in a window of a width.
func (b *browser) open(path string, width int) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	before := len(b.events["Page.loadEventFired"])
	b.do("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for len(b.events["Page.loadEventFired"]) == before {
		b.read()
	}
}

// eval evaluates an expression in the page. A promise is waited for.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// quiet fails if a script failed, something was refused or complained of, or anything but the page
// was asked for.
func (b *browser) quiet(path string) {
	b.t.Helper()
	for _, method := range []string{"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"} {
		for _, e := range b.events[method] {
			b.t.Errorf("%s: %s", method, e)
		}
	}
	for _, e := range b.events["Network.requestWillBeSent"] {
		var r struct{ Request struct{ URL string } }
		if err := json.Unmarshal(e, &r); err != nil || r.Request.URL != "file://"+path && !strings.HasPrefix(r.Request.URL, "about:") {
			b.t.Errorf("the page asks for %s", r.Request.URL)
		}
	}
}

// outside lists elements that are outside of their box: wider than the window, or than what they
// are in, and text of drawings outside of these. What scrolls by itself may be wider.
const outside = `(() => {
  document.querySelectorAll("details").forEach(d => { d.open = true; });
  const bad = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.body.querySelectorAll("*")) {
    const r = e.getBoundingClientRect();
    if (!r.width || !r.height) continue;
    const name = e.tagName + "." + (e.getAttribute("class") || "") + " " + e.textContent.slice(0, 40);
    const svg = e.ownerSVGElement;
    if (svg) {
      const s = svg.getBoundingClientRect();
      if (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 2 || r.bottom > s.bottom + 2) bad.push("in a drawing: " + name);
      continue;
    }
    const scroll = e.parentElement.closest(".scroll, pre");
    if (scroll && getComputedStyle(scroll).overflowX !== "visible") continue;
    if (r.left < -1 || r.right > width + 1) bad.push(name);
    const p = e.parentElement.getBoundingClientRect();
    if (getComputedStyle(e).display !== "inline" && r.right > p.right + 1) bad.push("wider than its parent: " + name);
  }
  return bad.slice(0, 20);
})()`

// spells fails if the script does not spell the rows of a table as the page does without it.
func (b *browser) spells(path string) {
	b.t.Helper()
	const rows = `[...document.querySelectorAll(".conns tbody")].map(t => [...t.rows].map(r => [...r.cells].map(c => c.className + " " + c.textContent)))`
	var without, with [][][]string
	b.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(path, 1280)
	b.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.eval(rows, &without)
	b.open(path, 1280)
	b.eval(rows, &with)
	for i := range with {
		if d := cmp.Diff(without[i], with[i]); d != "" || len(with[i]) == 0 {
			b.t.Errorf("table %d (-without +with the script):\n%s", i, d)
		}
	}
}

// browsed writes a page with all that there is in one, and thousands of connections.
func browsed(t *testing.T) string {
	t.Helper()
	demo, _ := scenario.Find("demo")
	r := &Report{Tool: "iwdissect test", Captures: []*Capture{
		captured(t, 0, generated(t, demo), 3), captured(t, 1, captures+"ulp-nvme-rdma-crc-cut.pcap", 3), captured(t, 2, captures+"term-wbadkey.pcap", 1),
	}}
	many := r.Captures[0]
	for i := range 5000 {
		row := many.Connections[i%3]
		row.Conn, row.Detailed = uint64(10+i), false
		row.Initiator = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, byte(i / 256), byte(i)}), 4000).String()
		row.FPDUs = uint64(i * 7919 % 5000)
		row.Lasted, row.Slow, row.Octets = int64(i)*int64(i)*int64(i)*7+int64(i), int64(1)<<(i%40), uint64(1)<<(i%45)+uint64(i)
		many.Connections = append(many.Connections, row)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(pageOf(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fits fails if a page is wider than a window or a sheet of paper, or complains.
func (b *browser) fits(path string) {
	b.t.Helper()
	for _, c := range []struct {
		width int
		media string
	}{{1280, "screen"}, {400, "screen"}, {718, "print"}} { // A4 without margins of 10 mm
		b.do("Emulation.setEmulatedMedia", map[string]any{"media": c.media}, nil)
		b.open(path, c.width)
		var bad []string
		b.eval(outside, &bad)
		for _, x := range bad {
			b.t.Errorf("%s, %d wide: %s", c.media, c.width, x)
		}
		b.quiet(path)
	}
}

// TestBrowser_Fleet: a browser shows the page of merge without an error or a request.
func TestBrowser_Fleet(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes some seconds")
	}
	path := filepath.Join(t.TempDir(), "fleet.html")
	if err := os.WriteFile(path, []byte(fleetPage(t, fleetOf())), 0o600); err != nil {
		t.Fatal(err)
	}
	browse(t).fits(path)
}

// TestBrowser: a browser shows the page without an error or a request, at two widths, light and
// dark; the table sorts, filters and turns its pages, and links open what they lead to.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes some seconds")
	}
	path := browsed(t)
	b := browse(t)
	b.fits(path)
	b.do("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	b.spells(path)
	var rows []string
	first := `[...document.querySelectorAll(".conns")[0].tBodies[0].rows].map(r => r.cells[%d].textContent)`
	wait := `new Promise(r => setTimeout(() => r(` + first + `), 400))`
	b.open(path, 1280)
	b.eval(fmt.Sprintf(first, 0), &rows)
	if len(rows) != 100 || rows[0] != "0" || rows[99] != "106" {
		t.Errorf("%d rows at first: %v", len(rows), rows)
	}
	b.eval(`document.querySelectorAll(".conns")[0].querySelectorAll("th button")[6].click(), `+fmt.Sprintf(first, 6), &rows)
	if len(rows) != 100 || rows[0] != "4999" || rows[1] != "4998" {
		t.Errorf("sorted by FPDUs: %v", rows)
	}
	b.eval(`document.querySelectorAll(".pages")[0].querySelectorAll("button")[1].click(), `+fmt.Sprintf(first, 6), &rows)
	if len(rows) != 100 || rows[0] != "4899" {
		t.Errorf("the second page: %v", rows)
	}
	b.eval(`(() => { const f = document.querySelector(".filter"); f.value = "10.9.1.77"; f.dispatchEvent(new Event("input")); })(), `+fmt.Sprintf(wait, 1), &rows)
	if len(rows) != 1 || rows[0] != "10.9.1.77:4000" {
		t.Errorf("filtered: %v", rows)
	}
	var open []string
	b.eval(`document.querySelector(".finding a").click(), new Promise(r => setTimeout(() =>
		r([...document.querySelectorAll("details[open]")].map(d => d.id)), 300))`, &open)
	if got := strings.Join(open, " "); !strings.Contains(got, "c0n2 ") || !strings.Contains(got, "c0p") {
		t.Errorf("a link opens %v", open)
	}
	var colours [2]string
	for i, scheme := range []string{"light", "dark"} {
		b.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		b.eval(`getComputedStyle(document.body).backgroundColor`, &colours[i])
	}
	if colours[0] != "rgb(255, 255, 255)" || colours[0] == colours[1] {
		t.Errorf("light and dark: %v", colours)
	}
	b.quiet(path)
}
