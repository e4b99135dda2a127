package fetch

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/s3test"
)

// s3 makes a client with small blocks, that does not wait between attempts.
func s3(t *testing.T) *Client {
	t.Helper()
	c, err := New(Options{Head: 10_000, Block: 100_000, Ahead: 3, Wait: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestS3: objects are read, by a server that checks each signature.
func TestS3(t *testing.T) {
	s := s3test.New(t)
	for _, key := range []string{"a.pcap", "dir/b c+%41.pcap", "dir/ü&=?#.pcap"} {
		s.Put(t, key, content)
		if got, err := read(t, s3(t), "s3://captures/"+key); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d octets, %v", key, len(got), err)
		}
	}
}

// TestS3_Cut: what a connection breaks goes on where it broke.
func TestS3_Cut(t *testing.T) {
	s := s3test.New(t)
	s.Put(t, "a.pcap", content)
	cuts := 0
	s.Server.Config.Handler = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("Range"), "9999") {
				cuts++
				w = &cutter{w, 3000}
			}
			h.ServeHTTP(w, r)
		})
	}(s.Server.Config.Handler)
	c := s3(t)
	c.opt.Ahead = 1 // one after the other, so that they can be counted
	if got, err := read(t, c, "s3://captures/a.pcap"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d octets, %v", len(got), err)
	}
	if cuts < 10 {
		t.Errorf("%d connections were cut", cuts)
	}
}

// TestS3_Fails: each failure is told in words of its own.
func TestS3_Fails(t *testing.T) {
	cases := map[string]struct {
		prepare func(t *testing.T, s *s3test.Server)
		url     string
		want    string
	}{
		"wrong key id": {func(t *testing.T, _ *s3test.Server) { t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOTHER") }, "", "access denied: InvalidAccessKeyId"},
		"wrong secret": {func(t *testing.T, _ *s3test.Server) { t.Setenv("AWS_SECRET_ACCESS_KEY", "other") }, "", "access denied: SignatureDoesNotMatch"},
		"no credentials": {func(t *testing.T, _ *s3test.Server) {
			t.Setenv("AWS_ACCESS_KEY_ID", "")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "")
		}, "", "no credentials were found"},
		"no such profile": {func(t *testing.T, _ *s3test.Server) {
			t.Setenv("AWS_ACCESS_KEY_ID", "")
			t.Setenv("AWS_PROFILE", "nobody")
		}, "", "the profile nobody of AWS_PROFILE"},
		"wrong endpoint": {func(t *testing.T, _ *s3test.Server) { t.Setenv("AWS_ENDPOINT_URL", "localhost") }, "", "AWS_ENDPOINT_URL takes"},
		"missing object": {nil, "s3://captures/none.pcap", "there is no such object"},
		"missing bucket": {nil, "s3://nowhere/a.pcap", "there is no such bucket"},
		"empty prefix":   {nil, "s3://captures/none/", "no objects whose keys begin so"},
		"other names":    {func(t *testing.T, s *s3test.Server) { s.Put(t, "logs/x.log", nil) }, "s3://captures/logs/", "none of the 1 objects has the name of a capture; s3://captures/logs/* takes all of them"},
		"broken server": {func(_ *testing.T, s *s3test.Server) {
			s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
				s3test.Refuse(w, 503, "SlowDown", "Reduce your rate")
				return true
			}
		}, "", "given up after 2 attempts: SlowDown: Reduce your rate"},
		"a long answer": {func(_ *testing.T, s *s3test.Server) {
			s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
				s3test.Refuse(w, 400, "Long", strings.Repeat("<x>", 1<<20))
				return true
			}
		}, "", "the answer is too long"},
		"changed": {func(t *testing.T, s *s3test.Server) {
			s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.Header.Get("Range"), "bytes=10000-") {
					s.Put(t, "a.pcap", content[1:])
				}
				return false
			}
		}, "", "changed while it was read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := s3test.New(t)
			s.Put(t, "a.pcap", content)
			if tc.prepare != nil {
				tc.prepare(t, s)
			}
			if tc.url == "" {
				tc.url = "s3://captures/a.pcap"
			}
			got, err := read(t, s3(t), tc.url)
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 400 {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if !bytes.HasPrefix(content, got) {
				t.Errorf("%d octets that are not those of the object", len(got))
			}
		})
	}
}

// TestS3_Credentials: they come from a profile, from the role of a container, or there are none.
func TestS3_Credentials(t *testing.T) {
	profile := fmt.Sprintf("[default]\naws_access_key_id = x\naws_secret_access_key = y\n[probe]\naws_access_key_id = %s\naws_secret_access_key = %s\n", s3test.Key, s3test.Secret)
	cases := map[string]func(t *testing.T, s *s3test.Server){
		"profile": func(t *testing.T, _ *s3test.Server) {
			file := filepath.Join(t.TempDir(), "credentials")
			if err := os.WriteFile(file, []byte(profile), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
			t.Setenv("AWS_PROFILE", "probe")
		},
		"role of a container": func(t *testing.T, s *s3test.Server) {
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/role" {
					fmt.Fprintf(w, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Expiration":%q}`, s3test.Key, s3test.Secret, time.Now().Add(time.Hour).Format(time.RFC3339))
				}
				return r.URL.Path == "/role"
			}
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL+"/role")
		},
		"none, of a public bucket": func(_ *testing.T, s *s3test.Server) { s.Open = true },
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			s := s3test.New(t)
			s.Put(t, "a.pcap", content)
			t.Setenv("AWS_ACCESS_KEY_ID", "")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "")
			prepare(t, s)
			if got, err := read(t, s3(t), "s3://captures/a.pcap"); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d octets, %v", len(got), err)
			}
		})
	}
}

// TestS3_List: the objects below a prefix, over several pages, one of which has to be asked for
// again.
func TestS3_List(t *testing.T) {
	s := s3test.New(t)
	var want []string
	for i := range 2300 {
		key := fmt.Sprintf("ring/%d/trace_%05d.pcap", i%3, i)
		s.Put(t, key, []byte{1})
		want = append(want, "s3://captures/"+key)
	}
	for _, key := range []string{"ring/", "ring/notes.txt", "ring/.hidden.pcap", "ringer.pcap"} {
		s.Put(t, key, nil)
	}
	pages := 0
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has("list-type") {
			return false
		}
		if pages++; pages == 2 {
			s3test.Refuse(w, http.StatusServiceUnavailable, "SlowDown", "")
			return true
		}
		return false
	}
	for _, url := range []string{"s3://captures/ring/", "s3://captures/ring"} {
		got := s3(t).List(t.Context(), url)
		if len(got) != len(want) {
			t.Fatalf("%s: %d objects, want %d: %q", url, len(got), len(want), got[:min(3, len(got))])
		}
		seen := map[string]bool{}
		for i, name := range got {
			if i > 0 && got[i-1] >= name {
				t.Fatalf("%s: %q behind %q", url, name, got[i-1])
			}
			seen[name] = true
		}
		for _, name := range want {
			if !seen[name] {
				t.Errorf("%s: %s is missing", url, name)
			}
		}
	}
	if got := s3(t).List(t.Context(), "s3://captures/ring*"); len(got) != len(want)+3 {
		t.Errorf("ring*: %d objects, want all but the folder", len(got))
	}
}

// TestS3_Size: the sizes of a listing cost no further requests.
func TestS3_Size(t *testing.T) {
	s := s3test.New(t)
	s.Put(t, "ring/a.pcap", content)
	c := s3(t)
	names := c.List(t.Context(), "s3://captures/ring/")
	before := len(s.Asked())
	if n := c.Size(t.Context(), names[0]); n != int64(len(content)) || len(s.Asked()) != before {
		t.Errorf("%d octets, asked %q", n, s.Asked())
	}
}
