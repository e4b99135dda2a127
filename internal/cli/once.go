package cli

import (
	"os"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// sameFile are two names of one file.
type sameFile struct{ name, first string }

// eachOnce returns the names without those of files that another name before them means: by another path, a
// link, or a folder or glob besides the name. Pipes and devices may be read several times.
func eachOnce(names []string) (once []string, again []sameFile) {
	type looks struct {
		size int64
		at   time.Time
	}
	type file struct {
		name string
		info os.FileInfo
	}
	seen := map[looks][]file{}
	urls := map[string]bool{}
	for _, name := range names {
		if capture.IsURL(name) {
			if urls[name] {
				again = append(again, sameFile{name, name})
				continue
			}
			urls[name] = true
		} else if info, err := os.Stat(name); name != "-" && err == nil && info.Mode().IsRegular() {
			key := looks{info.Size(), info.ModTime()}
			if at := slices.IndexFunc(seen[key], func(f file) bool { return os.SameFile(f.info, info) }); at >= 0 {
				again = append(again, sameFile{name, seen[key][at].name})
				continue
			}
			seen[key] = append(seen[key], file{name, info})
		}
		once = append(once, name)
	}
	return once, again
}

// readOnce leaves out what would be read twice, and says so: everything in it would count twice.
func (s *IOStreams) readOnce(names []string) []string {
	once, again := eachOnce(names)
	if len(again) == 0 {
		return once
	}
	what := again[0].name + " is named twice"
	if first := again[0].first; first != again[0].name {
		what = again[0].name + " is the same file as " + first
	}
	if n := len(again) - 1; n > 0 {
		what += ", and " + diagnose.Counted(uint64(n), "other name is of a file", "other names are of files") + " named before"
	}
	s.say("%s: each file is read once", what)
	return once
}
