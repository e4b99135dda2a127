package render

import "testing"

// TestArtifactURI: what stands in SARIF is a URI, of files relative ones.
func TestArtifactURI(t *testing.T) {
	for name, want := range map[string]string{
		"a b.pcap": "a%20b.pcap", "s3:x.pcap": "./s3:x.pcap",
		"s3://b/a b%20?.pcap": "s3://b/a%20b%2520%3F.pcap", "https://h:1/a%20b.pcap": "https://h:1/a%20b.pcap",
	} {
		if got := artifactURI(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
