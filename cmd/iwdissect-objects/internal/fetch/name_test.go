package fetch

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	cases := []struct{ url, name, bucket, key, err string }{
		{"s3://b/k.pcap", "s3://b/k.pcap", "b", "k.pcap", ""},
		{"S3://b/a/b%20c?d#e.pcap", "s3://b/a/b%20c?d#e.pcap", "b", "a/b%20c?d#e.pcap", ""},
		{"s3://b/dir/", "s3://b/dir/", "b", "dir/", ""},
		{"s3://b", "s3://b", "b", "", ""},
		{"s3://b/ring-*", "s3://b/ring-*", "b", "ring-", ""},
		{"s3://key:secret@b/k", "s3://b/k", "", "", "credentials do not go into the URL"},
		{"s3:///k", "s3:///k", "", "", "no bucket"},
		{"https://u:p@host:1/a%20b?q=1#f", "https://host:1/a%20b", "", "", ""},
		{"HTTPS://host/x", "https://host/x", "", "", ""},
		{"http://u:p@host/x?q", "http://host/x", "", "", "only https"},
		{"https:///x", "https:///x", "", "", "no host"},
		{"https://u:secret@host:port/x", "a URL that cannot be read", "", "", "not a URL"},
	}
	for _, tc := range cases {
		a, err := parse(tc.url)
		if got := Name(tc.url); got != tc.name {
			t.Errorf("%s: name %q, want %q", tc.url, got, tc.name)
		}
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v, want %q", tc.url, err, tc.err)
			}
		case err != nil || a.bucket != tc.bucket || a.key != tc.key || a.pattern != strings.HasSuffix(tc.url, "*") || a.folder != (tc.bucket != "" && (tc.key == "" || strings.HasSuffix(tc.key, "/"))):
			t.Errorf("%s: %+v, %v", tc.url, a, err)
		}
	}
}

func TestTakes(t *testing.T) {
	for key, want := range map[string]bool{
		"a/x.pcap": true, "x.PCAPNG.gz": true, "x.cap.zst": true, "x.pcap12": true, "x.pcap.lz4": true, "x.pcap.bz2": true, "x.pcap.xz": true, "x.pcap3.tar.gz": true, "x.tar.gz": false,
		"x.log": false, "a/": false, "a/.x.pcap": false, "pcap": false, "x.pcap/": false,
	} {
		if got := (address{}).takes(key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
	if !(address{pattern: true}).takes("x.log") || (address{pattern: true}).takes("x/") {
		t.Error("a pattern takes all but folders")
	}
}

// TestRange: a Content-Range is taken if it is one, and never makes an odd place of it.
func TestRange(t *testing.T) {
	cases := []struct {
		header        string
		from, n, size int64
		ok            bool
	}{
		{"bytes 0-99/1000", 0, 100, 1000, true},
		{"bytes 5-5/6", 5, 1, 6, true},
		{"bytes 0-9/*", 0, 10, -1, true},
		{"bytes 5-4/9", 0, 0, -1, false},
		{"bytes 0-9/9", 0, 0, -1, false},
		{"bytes -1-9/99", 0, 0, -1, false},
		{"bytes */0", 0, 0, -1, false},
		{"bytes 0-99999999999999999999/9", 0, 0, -1, false},
		{"items 0-9/99", 0, 0, -1, false},
		{"", 0, 0, -1, false},
	}
	for _, tc := range cases {
		from, n, size, err := rangeOf(tc.header)
		if from != tc.from || n != tc.n || size != tc.size || (err == nil) != tc.ok {
			t.Errorf("%q: from %d, %d octets of %d, %v", tc.header, from, n, size, err)
		}
	}
}
