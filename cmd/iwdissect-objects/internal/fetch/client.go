// Package fetch reads objects over the network: of S3 and what speaks its protocol, and of web
// servers. Objects are read in blocks, ahead of who reads them; a block that breaks is asked for
// again from the octet where it broke.
//
// An object is one content: what the first answer says of its version holds for all that follow,
// also when it is opened again.
package fetch

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Options bound what is done. Zero values stand for the usual ones.
type Options struct {
	// Attempts is how often a request is sent that brings nothing.
	Attempts int
	// Idle is how long a server may send nothing.
	Idle time.Duration
	// Head is the size of the first request for an object, Block of those that follow, in
	// octets, and Ahead how many of these there are at the same time for one object.
	Head, Block int64
	Ahead       int
	// Wait waits before a further attempt.
	Wait func(ctx context.Context, d time.Duration) error
	// Transport is for tests; nil: that of the system.
	Transport http.RoundTripper
}

func (o *Options) complete() {
	if n, err := strconv.Atoi(os.Getenv("AWS_MAX_ATTEMPTS")); o.Attempts == 0 && err == nil && n > 0 {
		o.Attempts = n
	}
	if o.Attempts == 0 {
		o.Attempts = 6
	}
	if o.Idle == 0 {
		o.Idle = 30 * time.Second
	}
	if o.Head == 0 {
		o.Head = 256 << 10
	}
	if o.Block == 0 {
		o.Block = 4 << 20
	}
	if o.Ahead == 0 {
		o.Ahead = 4
	}
	if o.Wait == nil {
		o.Wait = sleep
	}
}

// Client reads objects by their names. It may be used by several goroutines.
type Client struct {
	opt Options
	web *http.Client

	s3once sync.Once
	s3     *s3client
	s3err  error

	mu      sync.Mutex
	targets map[string]*target
	heads   []*target // that have their head in memory, the oldest first
}

// mostHeads is how many beginnings of objects are kept: of several objects, each is looked at for
// its time before it is read.
const mostHeads = 64

// target is an object that was named.
type target struct {
	name  string
	store store

	mu     sync.Mutex
	failed error // why it cannot be read: it is not tried once more
	known  bool  // version is
	version
	head []byte // its first octets, nil: not in memory
}

// New makes a client.
func New(opt Options) (*Client, error) {
	opt.complete()
	if opt.Transport == nil {
		t, err := transport()
		if err != nil {
			return nil, err
		}
		opt.Transport = t
	}
	opt.Transport = &limited{opt.Transport}
	return &Client{opt: opt, web: &http.Client{Transport: opt.Transport, CheckRedirect: redirect}, targets: map[string]*target{}}, nil
}

// List returns the names of the objects that a URL stands for, as Open takes them. If there are
// none, or they cannot be listed, it is one name; opening it tells why.
func (c *Client) List(ctx context.Context, url string) []string {
	a, err := parse(url)
	if err != nil {
		return []string{c.add(&target{name: a.nameOr(url), failed: err})}
	}
	if a.web != nil {
		return []string{c.add(&target{name: a.name, store: &webStore{c.web, a.web}})}
	}
	s, err := c.s3client(ctx)
	if err != nil {
		return []string{c.add(&target{name: a.name, failed: err})}
	}
	found, err := c.below(ctx, s, a)
	if err != nil {
		return []string{c.add(&target{name: a.name, failed: err})}
	}
	names := make([]string, len(found))
	for i, t := range found {
		names[i] = c.add(t)
	}
	slices.Sort(names)
	return names
}

// nameOr is the name of an address, or that of a URL that has none.
func (a address) nameOr(url string) string {
	if a.name == "" {
		return Name(url)
	}
	return a.name
}

// add notes a target, and returns its name: another one if there is one of that name that is not
// the same, as of two URLs that differ in their queries.
func (c *Client) add(t *target) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := t.name
	for n := 2; ; n++ {
		old := c.targets[t.name]
		if old == nil {
			c.targets[t.name] = t
			return t.name
		}
		if sameStore(old.store, t.store) {
			return t.name
		}
		t.name = name + "#" + strconv.Itoa(n)
	}
}

func sameStore(a, b store) bool {
	x, web := a.(*webStore)
	y, web2 := b.(*webStore)
	return !web || !web2 || x.url.String() == y.url.String()
}

// find is the target of a name.
func (c *Client) find(ctx context.Context, name string) *target {
	c.mu.Lock()
	t := c.targets[name]
	c.mu.Unlock()
	if t == nil {
		c.List(ctx, name)
		c.mu.Lock()
		t = c.targets[name]
		c.mu.Unlock()
	}
	if t == nil {
		return &target{name: name, failed: &statusError{code: http.StatusNotFound}}
	}
	return t
}

// Size is the size of an object in octets, 0 if it is not known.
func (c *Client) Size(ctx context.Context, name string) int64 {
	t := c.find(ctx, name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil && !t.known && t.size == 0 {
		_, stream, err := c.first(ctx, t)
		if err != nil {
			return 0 // who reads it is told
		}
		if stream != nil {
			_ = stream.Close()
		}
	}
	return max(t.size, 0)
}

// Open begins to read an object.
func (c *Client) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	t := c.find(ctx, name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return nil, t.failed
	}
	ctx, cancel := context.WithCancel(ctx)
	head, stream, err := t.head, io.ReadCloser(nil), error(nil)
	if head == nil {
		if head, stream, err = c.first(ctx, t); err != nil {
			cancel()
			return nil, err
		}
	}
	if stream != nil {
		return &whole{stream, cancel}, nil
	}
	return &object{c: c, t: t, v: t.version, ctx: ctx, cancel: cancel, cur: head, next: int64(len(head))}, nil
}

// first asks for the first octets of an object, and notes what the answer says of it. If the
// server sends no ranges, it returns the stream of all octets.
func (c *Client) first(ctx context.Context, t *target) (head []byte, stream io.ReadCloser, err error) {
	var known *version
	if t.known {
		known = &t.version
	}
	buf := make([]byte, c.opt.Head)
	got := 0
	err = c.again(ctx, func() (bool, error) {
		p, w, err := c.ask(ctx, t.store, int64(got), int64(len(buf)-got), known)
		if err != nil {
			return false, err
		}
		t.version, t.known = p.version, true
		known = &t.version
		if p.whole {
			stream = w
			return true, nil
		}
		defer w.Close() //nolint:errcheck // only read from
		if t.size >= 0 && t.size < int64(len(buf)) {
			buf = buf[:t.size]
		}
		n, err := io.ReadFull(w, buf[got:min(got+int(p.n), len(buf))])
		got += n
		if err == nil && got < len(buf) && t.size >= 0 {
			err = io.ErrUnexpectedEOF // a part of the part: ask for the rest
		}
		return n > 0, err
	})
	if isEmpty(err) && got == 0 {
		t.version, t.known, err = version{}, true, nil
	}
	if err != nil {
		t.failed = err
		return nil, nil, err
	}
	if stream != nil {
		return nil, stream, nil
	}
	t.head = buf[:got:got]
	c.keep(t)
	return t.head, nil, nil
}

// keep bounds how many heads are in memory.
func (c *Client) keep(t *target) {
	c.mu.Lock()
	c.heads = append(c.heads, t)
	var old *target
	if len(c.heads) > mostHeads {
		old, c.heads = c.heads[0], c.heads[1:]
	}
	c.mu.Unlock()
	if old != nil && old != t && old.mu.TryLock() { // one that is being opened keeps its own
		old.head = nil
		old.mu.Unlock()
	}
}
