package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// store is where an object is.
type store interface {
	// get asks for n octets of the object from one on, of this version if that is known.
	get(ctx context.Context, from, n int64, v version) (*part, error)
}

// version tells one content of an object from another.
type version struct {
	etag     string // without quotes; weak ones begin with W/
	modified string
	size     int64 // -1: not known
}

// strong reports whether a server can be asked for nothing but this version.
func (v version) strong() bool { return v.etag != "" && !strings.HasPrefix(v.etag, "W/") }

// part is an answer.
type part struct {
	body    io.ReadCloser
	version version
	// whole: the server does not send ranges, this is all of the object.
	whole bool
	from  int64
	n     int64 // octets of the body, -1: not known
}

var (
	errChanged = errors.New("the object was changed while it was read: start again")
	errNoRange = errors.New("the server does not send parts of objects, so that reading cannot go on where it broke")
	errIdle    = errors.New("the server sent nothing for too long")
)

// wrongAnswer is an answer that is not what was asked for.
func wrongAnswer(format string, args ...any) error {
	return fmt.Errorf("the server answers wrongly: "+format, args...)
}

// rangeOf reads a Content-Range, such as bytes 0-99/1000.
func rangeOf(header string) (from, n, size int64, err error) {
	span, total, ok := strings.Cut(strings.TrimPrefix(header, "bytes "), "/")
	first, last, ok2 := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	size = -1
	var err3 error
	if total != "*" {
		size, err3 = strconv.ParseInt(total, 10, 64)
	}
	if !ok || !ok2 || errors.Join(err1, err2, err3) != nil || from < 0 || to < from || size >= 0 && to >= size {
		return 0, 0, -1, wrongAnswer("Content-Range: %.100q", header)
	}
	return from, to - from + 1, size, nil
}

// fits checks that an answer is what was asked for.
func (p *part) fits(from, n int64, known *version) error {
	if p.whole {
		if from != 0 {
			return errNoRange
		}
	} else if p.from != from || p.n > n {
		return wrongAnswer("octets %d to %d instead of %d to %d", p.from, p.from+p.n-1, from, from+n-1)
	}
	if known != nil && !known.same(p.version) {
		return errChanged
	}
	return nil
}

// same reports whether two answers are of one content.
func (v version) same(w version) bool {
	return v.etag == w.etag && v.modified == w.modified && (v.size == w.size || v.size < 0 || w.size < 0)
}
