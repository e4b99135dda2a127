package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// webStore is an object of a web server.
type webStore struct {
	client *http.Client
	url    *url.URL
}

func (s *webStore) get(ctx context.Context, from, n int64, v version) (*part, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String(), nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", agent)
	if v.strong() {
		req.Header.Set("If-Match", `"`+v.etag+`"`)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	p, err := webPart(resp)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return p, nil
}

// agent is how requests name the program.
const agent = "iwdissect-objects"

// bare takes the URL out of an error of a request that had no answer: it may hold secrets.
func bare(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	if strings.HasPrefix(u.Err.Error(), "Connection closed by foreign host") { // what minio-go makes of it
		return &lostError{errClosed}
	}
	return &lostError{u.Err}
}

// lostError is a request that had no answer.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

var errClosed = errors.New("the server closed the connection")

// webPart reads the header of an answer.
func webPart(resp *http.Response) (*part, error) {
	p := &part{body: resp.Body, n: resp.ContentLength, version: version{
		etag:     unquoted(resp.Header.Get("ETag")),
		modified: resp.Header.Get("Last-Modified"),
	}}
	switch resp.StatusCode {
	case http.StatusPartialContent:
		return p, p.ranged(resp.Header.Get("Content-Range"))
	case http.StatusOK:
		p.whole, p.version.size = true, resp.ContentLength
		return p, nil
	case http.StatusPreconditionFailed:
		return nil, errChanged
	}
	return nil, &statusError{code: resp.StatusCode, wait: retryAfter(resp.Header.Get("Retry-After"))}
}

// ranged takes in the Content-Range of an answer.
func (p *part) ranged(header string) (err error) {
	length := p.n
	p.from, p.n, p.version.size, err = rangeOf(header)
	switch {
	case err != nil:
		return err
	case length >= 0 && length != p.n:
		return wrongAnswer("%d octets for a Content-Range of %d", length, p.n)
	case p.version.size < 0:
		return wrongAnswer("no size of the object in its Content-Range")
	}
	return nil
}

// unquoted is an ETag without the quotes.
func unquoted(etag string) string {
	weak := ""
	if rest, ok := strings.CutPrefix(etag, "W/"); ok {
		weak, etag = "W/", rest
	}
	return weak + strings.Trim(etag, `"`)
}

// retryAfter is how long a server asks to wait, in seconds; dates are left alone.
func retryAfter(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}
