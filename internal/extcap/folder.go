package extcap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// Folder is where Wireshark looks for programs to capture with.
type Folder struct {
	Path string
	// From is what has said so: the command line, or "" if it is the usual folder.
	From string
}

// FindFolder asks Wireshark for its folder: that of the user, or else that of all. If there is no
// Wireshark, it is the usual folder of the user.
func FindFolder() (Folder, error) {
	for _, program := range programs() {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		out, err := exec.CommandContext(ctx, path, "-G", "folders").Output()
		cancel()
		if err != nil {
			continue
		}
		if folder := folderIn(string(out)); folder != "" {
			return Folder{folder, program + " -G folders"}, nil
		}
	}
	folder, err := usualFolder()
	return Folder{Path: folder}, err
}

// programs are those that know the folder, by name or where installers put them.
func programs() []string {
	list := []string{"tshark", "wireshark"}
	switch runtime.GOOS {
	case "darwin":
		list = append(list, "/Applications/Wireshark.app/Contents/MacOS/tshark")
	case "windows":
		list = append(list, filepath.Join(os.Getenv("ProgramFiles"), "Wireshark", "tshark.exe"))
	}
	return list
}

// folderIn finds the folder in what -G folders prints: newer versions have one of the user and
// one of all, older ones a single one.
func folderIn(list string) (folder string) {
	for line := range strings.Lines(list) {
		name, path, _ := strings.Cut(line, ":")
		path = strings.TrimSpace(path)
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case path == "" || !strings.HasSuffix(name, "extcap path"):
		case strings.HasPrefix(name, "personal"):
			return path
		default:
			folder = path
		}
	}
	return folder
}

// usualFolder is that of the user in Wireshark 4.2 and newer.
func usualFolder() (string, error) {
	if runtime.GOOS == "windows" {
		config, err := os.UserConfigDir()
		return filepath.Join(config, "Wireshark", "extcap"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "lib", "wireshark", "extcap"), err
}

// linkName is the name of the link in the folder.
func linkName() string {
	if runtime.GOOS == "windows" {
		return "iwdissect.exe"
	}
	return "iwdissect"
}

// ErrTaken is returned when something else has the name of the link.
var ErrTaken = errors.New("something else has this name")

// Link is the link to a program in a folder.
type Link struct {
	// Path is that of the link, Target where it leads to, "" if there is none.
	Path, Target string
	// Ours says that it leads to the program itself, Foreign that it is no link to an iwdissect.
	Ours, Foreign bool
}

// Look finds out what has the name of the link in a folder.
func Look(folder, program string) (Link, error) {
	l := Link{Path: filepath.Join(folder, linkName())}
	info, err := os.Lstat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, err
	}
	l.Target = l.Path
	if info.Mode()&fs.ModeSymlink != 0 {
		if l.Target, err = os.Readlink(l.Path); err != nil {
			return l, err
		}
		l.Foreign = filepath.Base(l.Target) != filepath.Base(program) && filepath.Base(l.Target) != linkName()
	} else {
		l.Foreign = true
	}
	there, err := os.Stat(l.Path)
	if err == nil {
		self, err := os.Stat(program)
		l.Ours = err == nil && os.SameFile(there, self)
		l.Foreign = l.Foreign && !l.Ours
	}
	return l, nil
}

// Install makes the link. done is false if it was there.
func Install(folder, program string) (l Link, done bool, err error) {
	if l, err = Look(folder, program); err != nil || l.Ours {
		return l, false, err
	}
	if l.Target != "" {
		return l, false, ErrTaken
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return l, false, err
	}
	l.Target = program
	return l, true, outfile.Link(program, l.Path)
}

// Uninstall removes the link. done is false if there is none.
func Uninstall(folder, program string) (l Link, done bool, err error) {
	l, err = Look(folder, program)
	switch {
	case err != nil, l.Target == "":
		return l, false, err
	case l.Foreign:
		return l, false, ErrTaken
	}
	// On Windows it is another name of the program, which is not that name.
	if self, err := filepath.EvalSymlinks(program); err == nil && self == l.Path {
		return l, false, ErrTaken
	}
	return l, true, os.Remove(l.Path)
}
