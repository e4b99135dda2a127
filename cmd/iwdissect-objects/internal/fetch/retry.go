package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	firstWait = 200 * time.Millisecond
	mostWait  = 20 * time.Second
)

// statusError is the status of an answer of a web server.
type statusError struct {
	code int
	wait time.Duration // what the server asks for
}

func (e *statusError) Error() string {
	switch e.code {
	case http.StatusNotFound, http.StatusGone:
		return "there is no such object"
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("access denied (%d %s)", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("the server answers %d %s", e.code, http.StatusText(e.code))
}

// temporary reports whether an error may be gone when the request is sent again.
func temporary(err error) bool {
	var status *statusError
	var s3 minio.ErrorResponse
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var lost *lostError
	var op net.Error
	switch {
	case errors.Is(err, errIdle), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return true
	case errors.Is(err, errRedirect), errors.Is(err, errAnswer):
		return false
	case errors.As(err, &status):
		return retried(status.code)
	case errors.As(err, &s3):
		return retried(s3.StatusCode) || s3.Code == "SlowDown" || s3.Code == "RequestTimeout"
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &host):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	}
	return errors.As(err, &lost) || errors.As(err, &op)
}

// retried reports whether a status is worth another request.
func retried(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return code >= http.StatusInternalServerError
}

// pause is how long to wait before a further attempt: up to twice as long each time, by chance, so
// that many programs that were cut off together do not come back together. A server may ask for
// more.
func pause(failed int, err error) time.Duration {
	most := min(firstWait<<min(failed-1, 10), mostWait)
	d := most/2 + rand.N(most/2+1)
	var status *statusError
	if errors.As(err, &status) {
		d = max(d, min(status.wait, mostWait))
	}
	return d
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// again does something until it works, fails for good, or no attempt is left. work reports whether
// it came further; attempts count from there.
func (c *Client) again(ctx context.Context, work func() (further bool, err error)) error {
	for failed, total := 0, 0; ; total++ {
		further, err := work()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case further:
			failed = 0
		}
		failed++
		if !temporary(err) {
			return explained(err)
		}
		if failed >= c.opt.Attempts || total >= mostAttempts {
			return fmt.Errorf("given up after %d attempts: %w", total+1, explained(err))
		}
		if err := c.opt.Wait(ctx, pause(failed, err)); err != nil {
			return err
		}
	}
}

// mostAttempts bounds those for one block, of a server that sends a few octets each time.
const mostAttempts = 100
