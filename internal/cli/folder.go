package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// captureNames are how the names of capture files end, with what compression
// adds behind it. A capture whose compression is not read is one all the same: opening
// it fails, and who judges a folder learns that it was not looked at.
var (
	captureNames    = []string{".pcap", ".pcapng", ".cap"}
	compressedNames = []string{
		".gz", ".bz2", ".zst", ".lz4",
		".xz", ".lzma", ".lz", ".lzo", ".br", ".z", ".7z", ".zip", ".rar", ".tar", ".gzip", ".bzip2", ".zstd",
	}
)

// expand puts the captures below it in the place of each folder. A folder without
// any stays in the list: opening it fails, as with any other input that cannot be
// read.
func expand(names []string) (files []string, err error) {
	for _, name := range names {
		if capture.IsURL(name) {
			files = append(files, capture.List(name)...)
			continue
		}
		if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		w := folderWalk{seen: map[string]bool{}}
		w.folder(name)
		if w.odd != "" {
			return nil, fmt.Errorf("%s: a pipe, a socket or a device is not read as one of a folder: name it, or take it out of the folder", w.odd)
		}
		if len(w.files) == 0 {
			w.files = append(w.files, name)
		}
		slices.Sort(w.files)
		files = append(files, w.files...)
	}
	return files, nil
}

// folderWalk collects the captures below a folder. It follows symbolic links; seen
// holds the real paths of visited folders, so that each is visited once.
type folderWalk struct {
	seen  map[string]bool
	files []string
	// odd has the name of a capture and is no file: to open it may wait for ever, and to pass
	// over it would be to judge the folder without it.
	odd string
}

func (w *folderWalk) folder(name string) {
	place, err := filepath.EvalSymlinks(name)
	if err != nil || w.seen[place] {
		return
	}
	w.seen[place] = true
	entries, err := os.ReadDir(name)
	if err != nil {
		w.files = append(w.files, name) // opening it fails too, and says why
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(name, e.Name())
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			w.folder(path)
		case (err != nil || info.Mode().IsRegular()) && isCapture(path):
			w.files = append(w.files, path)
		case err == nil && !info.Mode().IsRegular() && namesCapture(path):
			w.odd = path
		}
	}
}

// isCapture reports whether a file is a capture, by its name or else by its first
// octets.
func isCapture(path string) bool {
	if namesCapture(path) {
		return true
	}
	f, err := capture.Open(path, nil)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// namesCapture reports whether a name is that of a capture, compressed or not. tcpdump puts a number
// behind those of a ring.
func namesCapture(path string) bool {
	name := strings.ToLower(path)
	for slices.Contains(compressedNames, filepath.Ext(name)) {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return slices.Contains(captureNames, strings.TrimRight(filepath.Ext(name), "0123456789"))
}

// folderError is the error of a folder without captures.
func folderError(err error) error {
	var e *capture.Error
	if errors.As(err, &e) && e.Code == capture.CodeDirectory {
		e.Err = errors.New("a folder without capture files")
	}
	return err
}
