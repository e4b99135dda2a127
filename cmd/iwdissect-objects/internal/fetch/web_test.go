package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// content is that of the object that most tests read: some blocks, and a part of one.
var content = func() []byte {
	b := make([]byte, 1<<20+12345)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(b)
	return b
}()

// modified is when it was.
var modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// origin is a web server with one object, and what it did.
type origin struct {
	*httptest.Server
	mu     sync.Mutex
	ranges []string
}

// asked are the ranges that were asked for.
func (o *origin) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.ranges...)
}

// serve starts a server. handler gets the number of the request, from 0.
func serve(t *testing.T, handler func(n int, w http.ResponseWriter, r *http.Request)) *origin {
	t.Helper()
	o := &origin{}
	o.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		n := len(o.ranges)
		o.ranges = append(o.ranges, r.Header.Get("Range"))
		o.mu.Unlock()
		handler(n, w, r)
	}))
	o.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // of connections that tests cut
	o.StartTLS()
	t.Cleanup(o.Close)
	return o
}

// good sends an object as it should.
func good(etag string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+etag+`"`)
		http.ServeContent(w, r, "", modified, bytes.NewReader(content))
	}
}

// client makes one with small blocks, that does not wait between attempts.
func (o *origin) client(t *testing.T, opt Options) *Client {
	t.Helper()
	tr, err := transport()
	if err != nil {
		t.Fatal(err)
	}
	tr.TLSClientConfig.RootCAs = o.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	t.Cleanup(tr.CloseIdleConnections)
	opt.Transport = tr
	opt.Head, opt.Block, opt.Ahead = 10_000, 100_000, 3
	if opt.Attempts == 0 {
		opt.Attempts = 4
	}
	opt.Wait = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read reads an object.
func read(t *testing.T, c *Client, url string) ([]byte, error) {
	t.Helper()
	names := c.List(t.Context(), url)
	if len(names) != 1 {
		t.Fatal(names)
	}
	r, err := c.Open(t.Context(), names[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// cutter aborts the connection behind so many octets of a body.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// TestWeb_Recovers: an object is read whole, whatever happens on the way that may pass.
func TestWeb_Recovers(t *testing.T) {
	fine := good("one")
	var seen sync.Map // ranges
	cases := map[string]func(n int, w http.ResponseWriter, r *http.Request){
		"nothing wrong": fine,
		"cut in every answer": func(n int, w http.ResponseWriter, r *http.Request) {
			fine(n, &cutter{w, 7777}, r)
		},
		"503 to each first request": func(n int, w http.ResponseWriter, r *http.Request) {
			if _, again := seen.LoadOrStore(r.Header.Get("Range"), true); !again {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fine(n, w, r)
		},
		"closed before the answer": func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 0 || n == 5 {
				panic(http.ErrAbortHandler)
			}
			fine(n, w, r)
		},
		"shorter ranges than asked for": func(n int, w http.ResponseWriter, r *http.Request) {
			var from, to int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, min(to, from+49_999)))
			fine(n, w, r)
		},
		"without an ETag": func(_ int, w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", modified, bytes.NewReader(content))
		},
		"with a weak ETag": func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `W/"weak"`)
			if r.Header.Get("If-Match") != "" {
				w.WriteHeader(http.StatusPreconditionFailed) // a weak one never matches
				return
			}
			http.ServeContent(w, r, "", modified, bytes.NewReader(content))
		},
		"without ranges": func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) },
	}
	for name, handler := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := serve(t, handler)
			got, err := read(t, o.client(t, Options{}), o.URL+"/trace.pcap")
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d octets of %d, %v", len(got), len(content), err)
			}
		})
	}
}

// TestWeb_Resumes: a block goes on from the octet where the connection broke.
func TestWeb_Resumes(t *testing.T) {
	fine := good("one")
	o := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			fine(n, &cutter{w, 40_000}, r)
		} else {
			fine(n, w, r)
		}
	})
	if got, err := read(t, o.client(t, Options{}), o.URL+"/trace.pcap"); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%d octets, %v", len(got), err)
	}
	want := []string{"bytes=0-9999", "bytes=10000-109999", "bytes=50000-109999", "bytes=110000-209999"}
	if got := o.asked(); strings.Join(got[:3], " ") != strings.Join(want[:3], " ") {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

// TestWeb_Fails: what cannot be read is told, behind all octets that came before.
func TestWeb_Fails(t *testing.T) {
	fine := good("one")
	after := func(first int, then http.HandlerFunc) func(int, http.ResponseWriter, *http.Request) {
		return func(n int, w http.ResponseWriter, r *http.Request) {
			if n < first {
				fine(n, w, r)
			} else {
				then(w, r)
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	cases := map[string]struct {
		handler  func(int, http.ResponseWriter, *http.Request)
		want     string
		atLeast  int
		requests int // 0: any number
	}{
		"missing":                {after(0, status(404)), "there is no such object", 0, 1},
		"denied":                 {after(0, status(403)), "access denied (403 Forbidden)", 0, 1},
		"broken for good":        {after(0, status(500)), "given up after 4 attempts: the server answers 500 Internal Server Error", 0, 4},
		"broken in the middle":   {after(3, status(502)), "given up after 4 attempts: the server answers 502 Bad Gateway", 110_000, 0},
		"gone in the middle":     {after(2, status(404)), "there is no such object", 110_000, 0},
		"changed, and tells":     {after(2, func(w http.ResponseWriter, r *http.Request) { good("two")(0, w, r) }), "changed while it was read", 110_000, 0},
		"changed, and sends":     {after(2, func(w http.ResponseWriter, r *http.Request) { r.Header.Del("If-Match"); good("two")(0, w, r) }), "changed while it was read", 110_000, 0},
		"changed in its size":    {after(2, func(w http.ResponseWriter, r *http.Request) { sendRange(w, r, "one", len(content)+1) }), "changed while it was read", 110_000, 0},
		"another range":          {after(1, func(w http.ResponseWriter, r *http.Request) { r.Header.Set("Range", "bytes=0-9"); fine(0, w, r) }), "octets 0 to 9 instead of", 10_000, 2},
		"a range without a size": {after(0, func(w http.ResponseWriter, r *http.Request) { sendRange(w, r, "one", -1) }), "no size", 0, 1},
		"a range of nonsense": {after(0, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes two-three")
			w.WriteHeader(206)
		}), `Content-Range: "bytes two-three"`, 0, 1},
		"no range in the middle": {after(2, func(w http.ResponseWriter, r *http.Request) { r.Header.Del("Range"); fine(0, w, r) }), "does not send parts of objects", 110_000, 0},
		"no ranges, and cut": {func(n int, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			fine(n, &cutter{w, 50_000}, r)
		}, "reading cannot go on where it broke", 50_000, 1},
		"leads to no encryption": {after(0, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusFound)
		}), "the server leads elsewhere, without encryption", 0, 1},
		"leads in circles":        {func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "more than 5 times", 0, 6},
		"a header without an end": {after(0, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }), "server response headers exceeded", 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := serve(t, tc.handler)
			got, err := read(t, o.client(t, Options{}), o.URL+"/trace.pcap")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if len(got) < tc.atLeast || !bytes.HasPrefix(content, got) {
				t.Errorf("%d octets, want those before it: %d at least", len(got), tc.atLeast)
			}
			if n := len(o.asked()); tc.requests != 0 && n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

// sendRange sends a range of the content and says that the object has another size, or none.
func sendRange(w http.ResponseWriter, r *http.Request, etag string, size int) {
	var from, to int
	_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
	to = min(to, len(content)-1)
	total := strconv.Itoa(size)
	if size < 0 {
		total = "*"
	}
	w.Header().Set("ETag", `"`+etag+`"`)
	w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, to, total))
	w.Header().Set("Content-Length", strconv.Itoa(to-from+1))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(content[from : to+1])
}

// TestWeb_Slow: a server that stops sending is asked again, and given up.
func TestWeb_Slow(t *testing.T) {
	stop := make(chan struct{})
	fine := good("one")
	o := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch {
		case n == 0:
			fine(n, w, r)
		case n == 1:
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 10000-109999/%d", len(content)))
			w.Header().Set("Content-Length", "100000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[10_000:20_000])
			_ = http.NewResponseController(w).Flush()
			fallthrough
		default:
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
	})
	defer close(stop)
	got, err := read(t, o.client(t, Options{Idle: 100 * time.Millisecond, Attempts: 2}), o.URL+"/trace.pcap")
	if !errors.Is(err, errIdle) || !bytes.Equal(got, content[:len(got)]) || len(got) < 10_000 {
		t.Errorf("%d octets, %v", len(got), err)
	}
}

// TestWeb_Looks: of an object that is only looked at, no more than its first octets are asked for;
// and of one that is opened again, not even those.
func TestWeb_Looks(t *testing.T) {
	o := serve(t, good("one"))
	c := o.client(t, Options{})
	name := c.List(t.Context(), o.URL+"/trace.pcap")[0]
	if n := c.Size(t.Context(), name); n != int64(len(content)) {
		t.Errorf("size %d", n)
	}
	for range 3 {
		r, err := c.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	if got := o.asked(); len(got) != 1 || got[0] != "bytes=0-9999" {
		t.Errorf("asked for %q", got)
	}
}

// TestWeb_Ahead: no more blocks are under way than allowed, while nobody reads.
func TestWeb_Ahead(t *testing.T) {
	o := serve(t, good("one"))
	c := o.client(t, Options{})
	r, err := c.Open(t.Context(), c.List(t.Context(), o.URL+"/trace.pcap")[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 5 {
		if _, err := io.ReadFull(r, make([]byte, 10_000+i*100_000-i*i)); err != nil {
			t.Fatal(err)
		}
		ob := r.(*object)
		if most := c.opt.Ahead; len(ob.asked) > most {
			t.Errorf("%d blocks are under way, want %d at most", len(ob.asked), most)
		}
	}
}

// TestWeb_Empty: an object without octets is one.
func TestWeb_Empty(t *testing.T) {
	o := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", "bytes */0")
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
	})
	if got, err := read(t, o.client(t, Options{}), o.URL+"/trace.pcap"); err != nil || len(got) != 0 {
		t.Errorf("%d octets, %v", len(got), err)
	}
}

// TestWeb_Secrets: user, password and query reach the server, and neither the name nor an error,
// nor the server that the first one leads to.
func TestWeb_Secrets(t *testing.T) {
	var referer, user string
	second := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		referer, user = r.Referer(), r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	})
	var asked string
	first := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		asked = name + ":" + password + "?" + r.URL.RawQuery
		http.Redirect(w, r, strings.Replace(second.URL, "127.0.0.1", "localhost", 1)+"/y", http.StatusFound)
	})
	url := strings.Replace(first.URL, "https://", "https://me:pass@", 1) + "/x.pcap?sig=secret#part"
	c := first.client(t, Options{})
	c.web.Transport.(*limited).RoundTripper.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
	names := c.List(t.Context(), url)
	if names[0] != first.URL+"/x.pcap" {
		t.Errorf("name %q", names)
	}
	_, err := c.Open(t.Context(), names[0])
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "pass") {
		t.Errorf("error %v", err)
	}
	if asked != "me:pass?sig=secret" || referer != "" || user != "" {
		t.Errorf("the first server got %q, the second %q and %q", asked, referer, user)
	}
	again := c.List(t.Context(), strings.Replace(url, "secret", "other", 1))
	if again[0] != first.URL+"/x.pcap#2" {
		t.Errorf("another query: %q", again)
	}
}

// TestCertificate: a server that nobody vouches for is not asked twice.
func TestCertificate(t *testing.T) {
	o := serve(t, good("one"))
	plain, err := transport()
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Transport: plain, Attempts: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, c, o.URL+"/x"); err == nil || strings.Contains(err.Error(), "attempts") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v", err)
	}
}

// TestPause: waits grow, and stay within bounds whatever the server asks for.
func TestPause(t *testing.T) {
	for n := range 50 {
		if d := pause(n+1, io.EOF); d < min(firstWait<<min(n, 10), mostWait)/2 || d > mostWait {
			t.Errorf("after %d failures %v", n+1, d)
		}
	}
	if d := pause(1, &statusError{code: 503, wait: time.Hour}); d != mostWait {
		t.Errorf("a server that asks for an hour gets %v", d)
	}
	if d := pause(1, &statusError{code: 503, wait: 3 * time.Second}); d != 3*time.Second {
		t.Errorf("a server that asks for 3 s gets %v", d)
	}
}
