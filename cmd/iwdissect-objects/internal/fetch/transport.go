package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

var (
	errRedirect = errors.New("the server leads elsewhere")
	errAnswer   = errors.New("the answer is too long")
)

const (
	mostHeader    = 64 << 10 // octets of the header of an answer
	mostError     = 64 << 10 // of the text of an error
	mostListing   = 16 << 20 // of a page of a listing, and of anything else but an object
	mostRedirects = 5
	// sessions is how many connections to a server are kept for further requests.
	sessions = 32
)

// transport is that of all requests: with proxies as the environment says, and with certificates
// of the system, or of the file that AWS_CA_BUNDLE names.
func transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    sessions,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: mostHeader,
		// An object is what was stored, compressed or not.
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
	}
	name := os.Getenv("AWS_CA_BUNDLE")
	if name == "" {
		return t, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificates", name)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// proxy is that of the environment, but for the service of the machine that gives the credentials of
// its role.
func proxy(req *http.Request) (*url.URL, error) {
	if ip := net.ParseIP(req.URL.Hostname()); ip != nil && ip.IsLinkLocalUnicast() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(req)
}

// limited bounds answers that are read whole: all but ranges of objects.
type limited struct{ http.RoundTripper }

func (l *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode >= http.StatusMultipleChoices:
		resp.Body = &bounded{resp.Body, mostError}
	case req.Header.Get("Range") == "":
		resp.Body = &bounded{resp.Body, mostListing}
	}
	return resp, nil
}

// bounded is a body of so many octets at most.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errAnswer
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// redirect allows to go on with https, or on the same host with the same scheme. The next server
// is not told where it was called from: the query may be secret.
func redirect(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer")
	from := via[len(via)-1].URL
	switch {
	case len(via) > mostRedirects:
		return fmt.Errorf("%w, more than %d times", errRedirect, mostRedirects)
	case req.URL.Scheme == "https", req.URL.Scheme == from.Scheme && req.URL.Host == from.Host:
		return nil
	}
	return fmt.Errorf("%w, without encryption", errRedirect)
}
