package outfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Error says which file was not written, why, and what to do.
type Error struct {
	Path string
	Err  error
	// Older tells that there is an older file of that name, which was left as it is.
	Older bool
}

// Error implements error.
func (e *Error) Error() string {
	says := explained(e.Path, "is not written", e.Err)
	if e.Older {
		says += "; the older file is left as it is"
	}
	return says
}

// explained says what happened to a file, why, and what to do.
func explained(path, what string, err error) string {
	says := path + " " + what + ": " + err.Error()
	if advice := adviceFor(err); advice != "" {
		says += ": " + advice
	}
	return says
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// adviceFor says what to do about an error of the system.
func adviceFor(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room, or write elsewhere"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "write to a folder in which you may make files"
	case errors.Is(err, fs.ErrExist):
		return "move it away, or write elsewhere"
	case errors.Is(err, fs.ErrNotExist):
		return "make its folder first"
	}
	return ""
}

// cause is an error of the system without the name of the file, which may be one that nobody
// has asked for.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
