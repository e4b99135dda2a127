// Package s3test is a server of S3 in memory for tests, which checks signatures.
package s3test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The credentials that the server knows, its bucket and its region.
const (
	Key    = "AKIAEXAMPLE"
	Secret = "a secret of an example"
	Bucket = "captures"
	Region = "eu-test-1"
)

// Server is one with a bucket.
type Server struct {
	*httptest.Server
	backend *s3mem.Backend
	store   http.Handler

	mu    sync.Mutex
	asked []string
	// Before, if not nil, may answer a request itself, and reports whether it did.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Open lets requests without a signature through.
	Open bool
}

// New starts a server and points the environment of the test to it.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{backend: s3mem.New()}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s.store = gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_SESSION_TOKEN": "",
		"AWS_ACCESS_KEY": "", "AWS_SECRET_KEY": "", "AWS_REGION": Region, "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none", "AWS_CONFIG_FILE": t.TempDir() + "/none", "AWS_MAX_ATTEMPTS": "2", "AWS_CA_BUNDLE": "",
		"HTTP_PROXY": "", "http_proxy": "",
	} {
		t.Setenv(name, value)
	}
	return s
}

// Put stores an object.
func (s *Server) Put(t *testing.T, key string, content []byte) {
	t.Helper()
	meta := map[string]string{"Last-Modified": "Fri, 02 Jan 2026 03:04:05 GMT"}
	if _, err := s.backend.PutObject(Bucket, key, meta, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Asked are the requests so far: method, path and query, range.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+r.Header.Get("Range")))
	s.mu.Unlock()
	if s.Before != nil && s.Before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "" || !s.Open {
		if code, text := verify(r); code != "" {
			Refuse(w, http.StatusForbidden, code, text)
			return
		}
	}
	s.store.ServeHTTP(w, r)
}

// Refuse answers with an error as S3 does.
func Refuse(w http.ResponseWriter, status int, code, text string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, text)
}

// verify signs a request once more, by the library of Amazon, and compares. It returns the code and
// text of an error, if any.
func verify(r *http.Request) (code, text string) {
	sent := r.Header.Get("Authorization")
	if sent == "" {
		return "AccessDenied", "Access Denied"
	}
	fields := map[string]string{}
	for f := range strings.SplitSeq(strings.TrimPrefix(sent, "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != Key {
		return "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return "RequestTimeTooSkewed", "The difference between the request time and the server's time is too large."
	}
	again := r.Clone(r.Context())
	again.Header = http.Header{}
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		if v := r.Header.Values(name); v != nil {
			again.Header[http.CanonicalHeaderKey(name)] = v
		}
	}
	again.URL.Scheme, again.URL.Host = "http", r.Host
	creds := aws.Credentials{AccessKeyID: Key, SecretAccessKey: Secret}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	err = signer.SignHTTP(r.Context(), creds, again, r.Header.Get("X-Amz-Content-Sha256"), "s3", scope[2], at)
	if _, signature, _ := strings.Cut(again.Header.Get("Authorization"), "Signature="); err != nil || signature != fields["Signature"] {
		return "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."
	}
	if scope[2] != Region {
		return "AuthorizationHeaderMalformed", "The region is wrong."
	}
	return "", ""
}
