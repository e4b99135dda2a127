package outfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// IsPipe reports whether a name is that of a named pipe.
func IsPipe(path string) bool {
	if runtime.GOOS == "windows" {
		return strings.HasPrefix(path, `\\.\pipe\`) // to look at it would be to connect to it
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// Pipe opens a named pipe for writing. It waits until somebody reads from it, or until ctx is done.
func Pipe(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, &Error{Path: path, Err: cause(o.err)}
		}
		return o.f, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Link makes a symbolic link; where the system has none for everybody, another name of the file.
// It never takes the place of anything: if the name is taken, the error is [fs.ErrExist].
func Link(target, name string) error {
	err := os.Symlink(target, name)
	if err != nil && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrExist) {
		err = os.Link(target, name)
	}
	if err != nil {
		return &Error{Path: name, Err: cause(err)}
	}
	return nil
}
