package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsURL(t *testing.T) {
	for name, want := range map[string]bool{
		"s3://b/k": true, "S3://b": true, "https://h/x": true, "http://h/x": true,
		"file:///x": false, "s3:/b/k": false, "./s3://b/k": false, "x": false, "-": false, "": false, "C:\\x": false, "ftp://x": false,
	} {
		if got := IsURL(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// objects are in memory.
type objects struct {
	content map[string][]byte
	opened  atomic.Int64
}

func (o *objects) List(url string) []string { return []string{url} }

func (o *objects) Size(name string) int64 { return int64(len(o.content[name])) }

var errNoObject = errors.New("there is no such object")

func (o *objects) Open(name string) (io.ReadCloser, error) {
	b, ok := o.content[name]
	if !ok {
		return nil, errNoObject
	}
	o.opened.Add(1)
	return io.NopCloser(bytes.NewReader(b)), nil
}

// reach makes objects of files, for the time of a test.
func reach(t *testing.T, files map[string]string) *objects {
	t.Helper()
	o := &objects{content: map[string][]byte{}}
	for url, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o.content[url] = b
	}
	Reach(o)
	t.Cleanup(func() { remote.Store(nil) })
	return o
}

// numbers reads all frames of a source.
func numbers(t *testing.T, src Source) (times []int64) {
	t.Helper()
	defer src.Close()
	var fr Frame
	for {
		err := src.Next(&fr)
		if errors.Is(err, io.EOF) {
			return times
		}
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, fr.Time)
	}
}

// TestRemote: objects are read as files are, alone, joined and merged.
func TestRemote(t *testing.T) {
	const folder = "../../testdata/pcaps"
	files := []string{filepath.Join(folder, "rping-rev1-crc.pcap"), filepath.Join(folder, "nano-rping-crc.pcap")}
	urls := []string{"s3://b/one.pcap", "https://h/two.pcap"}
	o := reach(t, map[string]string{urls[0]: files[0], urls[1]: files[1]})
	for i := range files {
		a, err := Open(files[i], nil)
		b, err2 := Open(urls[i], nil)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		_, size := a.Progress()
		if _, got := b.Progress(); got != size || size == 0 || a.Format() != b.Format() || a.Large() != b.Large() || a.Waits() != b.Waits() {
			t.Errorf("%s: %d octets, of the file %d", urls[i], got, size)
		}
		if d := cmp.Diff(numbers(t, a), numbers(t, b)); d != "" {
			t.Error(d)
		}
	}
	sorted := ByTime(files)
	for i, name := range ByTime(urls) {
		if (name == urls[0]) != (sorted[i] == files[0]) {
			t.Errorf("objects in the order of time: %s in place %d", name, i)
		}
	}
	if d := cmp.Diff(numbers(t, Join(files, nil)), numbers(t, Join(urls, nil))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(numbers(t, Merge(files)), numbers(t, Merge(urls))); d != "" {
		t.Error(d)
	}
	if o.opened.Load() == 0 {
		t.Error("no object was opened")
	}
	var e *Error
	if _, err := Open("s3://b/none", nil); !errors.As(err, &e) || e.Code != CodeOpen || e.File != "s3://b/none" || !errors.Is(err, errNoObject) {
		t.Errorf("a missing object: %v", err)
	}
	if got := ByTime([]string{"s3://b/none", urls[0]}); got[1] != "s3://b/none" {
		t.Errorf("what cannot be read comes last: %q", got)
	}
}
