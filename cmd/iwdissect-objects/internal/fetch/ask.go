package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// ask sends one request, and checks that the answer is to it. It ends when the server sends
// nothing for too long.
func (c *Client) ask(ctx context.Context, s store, from, n int64, known *version) (*part, io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watched{ctx: ctx, cancel: cancel, idle: c.opt.Idle}
	w.timer = time.AfterFunc(w.idle, func() { cancel(errIdle) })
	v := version{size: -1}
	if known != nil {
		v = *known
	}
	p, err := s.get(ctx, from, n, v)
	if err != nil {
		err = w.cause(err)
		w.end()
		return nil, nil, err
	}
	w.body = p.body
	if err := p.fits(from, n, known); err != nil {
		_ = w.Close()
		return nil, nil, err
	}
	return p, w, nil
}

// watched is the body of an answer.
type watched struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	timer  *time.Timer
	idle   time.Duration
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.body.Read(b)
	w.timer.Reset(w.idle)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = w.cause(err)
	}
	return n, err
}

// cause is why something was cancelled, if it was.
func (w *watched) cause(err error) error {
	if cause := context.Cause(w.ctx); cause != nil {
		return cause
	}
	return err
}

func (w *watched) end() {
	w.timer.Stop()
	w.cancel(nil)
}

func (w *watched) Close() error {
	w.end()
	return w.body.Close()
}

// isEmpty reports whether an answer says that there is no first octet.
func isEmpty(err error) bool {
	var status *statusError
	var s3 minio.ErrorResponse
	return errors.As(err, &status) && status.code == http.StatusRequestedRangeNotSatisfiable ||
		errors.As(err, &s3) && s3.StatusCode == http.StatusRequestedRangeNotSatisfiable
}
