package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestObjects_Refused: the program without clients names the one that has them, and no secret.
func TestObjects_Refused(t *testing.T) {
	for _, args := range [][]string{
		{"s3://b/k.pcap"},
		{"dissect", "https://me:secret@h/x.pcap?sig=secret#secret"},
		{"check", "-r", "s3://b/k.pcap"},
		{"follow", "s3://b/k.pcap", "0"},
		{"analyze", "--join", "s3://b/ring/", "x.pcap"},
		{"report", "HTTPS://h/x.pcap", "-o", "x.html"},
		{"dissect", "http://me:secret@h:port/x"},
		{"view", "s3://b/k.pcap"},
	} {
		var out, said bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &said}, args)
		if code != exitUsage || out.Len() > 0 || !strings.Contains(said.String(), "iwdissect-objects reads objects") || strings.Contains(said.String(), "secret") {
			t.Errorf("%q: exit code %d, %s%s", args, code, &out, &said)
		}
	}
}

// TestWithin_Objects: in a baseline an object has its URL, wherever the baseline is.
func TestWithin_Objects(t *testing.T) {
	if d := cmp.Diff([]string{"s3://b/k.pcap", "-"}, within(t.TempDir(), []string{"s3://b/k.pcap", "-"})); d != "" {
		t.Error(d)
	}
}
