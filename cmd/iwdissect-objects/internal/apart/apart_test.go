package apart

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/fetch"
	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/s3test"
)

// pair is an Objects whose other side is a goroutine.
func pair(t *testing.T) (*Objects, net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	c, err := fetch.New(fetch.Options{})
	s := &Server{client: c, failed: err, open: map[uint64]io.ReadCloser{}}
	go serve(s, there)
	t.Cleanup(func() { here.Close() })
	return &Objects{start: func() (io.ReadWriteCloser, error) { return here, nil }}, here
}

// TestObjects: several objects are read at the same time through one pair of pipes.
func TestObjects(t *testing.T) {
	s := s3test.New(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	for _, key := range []string{"a.pcap", "b.pcap", "c.pcap"} {
		s.Put(t, key, content)
	}
	o, _ := pair(t)
	names := o.List("s3://captures/")
	if strings.Join(names, " ") != "s3://captures/a.pcap s3://captures/b.pcap s3://captures/c.pcap" {
		t.Fatal(names)
	}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if n := o.Size(name); n != int64(len(content)) {
				t.Errorf("%s: size %d", name, n)
			}
			r, err := o.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d octets, %v", name, len(got), err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := r.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: read behind its end", name)
			}
		})
	}
	all.Wait()
}

// TestObjects_Fails: an error comes behind what was read, in the words of the other process.
func TestObjects_Fails(t *testing.T) {
	s := s3test.New(t)
	s.Put(t, "a.pcap", make([]byte, 300_000))
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=262144-") {
			s3test.Refuse(w, http.StatusForbidden, "ExpiredToken", "The provided token has expired.")
			return true
		}
		return false
	}
	o, _ := pair(t)
	r, err := o.Open("s3://captures/a.pcap")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if len(got) != 256<<10 || err == nil || !strings.Contains(err.Error(), "access denied: ExpiredToken") {
		t.Errorf("%d octets, %v", len(got), err)
	}
}

// TestObjects_Gone: the end of the other process is an error, and no hang.
func TestObjects_Gone(t *testing.T) {
	s := s3test.New(t)
	s.Put(t, "a.pcap", make([]byte, 5_000_000))
	o, conn := pair(t)
	r, err := o.Open("s3://captures/a.pcap")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "the process that fetches objects has ended") {
		t.Error(err)
	}
	failed := &Objects{start: func() (io.ReadWriteCloser, error) { return nil, errors.New("no memory") }}
	if names := failed.List("https://u:secret@h/x?y"); len(names) != 1 || names[0] != "https://h/x" {
		t.Error(names)
	}
	if _, err := failed.Open("https://h/x"); err == nil || !strings.Contains(err.Error(), "does not start: no memory") {
		t.Error(err)
	}
}
