package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// places says where documents go on a Linux system; what is not there belongs to archives only.
func places(format string) func(name string) (place string, zip bool) {
	zsh := "/usr/share/zsh/site-functions/_iwdissect"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_iwdissect"
	}
	return func(name string) (string, bool) {
		switch folder, file := path.Split(name); {
		case folder == "man/":
			return "/usr/share/man/man1/" + file + ".gz", true
		case name == "completions/iwdissect.bash":
			return "/usr/share/bash-completion/completions/iwdissect", false
		case name == "completions/_iwdissect":
			return zsh, false
		case name == "completions/iwdissect.fish":
			return "/usr/share/fish/vendor_completions.d/iwdissect.fish", false
		case name == "CHANGELOG.md":
			return "/usr/share/doc/iwdissect/CHANGELOG.md.gz", true
		case name == "LICENSE" && format == "deb":
			return "/usr/share/doc/iwdissect/copyright", false
		case folder == "":
			return "/usr/share/doc/iwdissect/" + name, false
		case strings.HasPrefix(folder, "wireshark/"):
			return "/usr/share/doc/iwdissect/examples/" + name, false
		}
		return "", false
	}
}

// packaged is the package of a format. nfpm takes files from a folder.
func packaged(format string, p *program, v *version, docs []document) (made, error) {
	work, err := os.MkdirTemp("", "package-")
	if err != nil {
		return made{}, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // it is a folder for temporary files
	contents := files.Contents{entry(p.path, "/usr/bin/iwdissect", 0o755, v)}
	find := places(format)
	for i, d := range docs {
		place, zip := find(d.name)
		if place == "" {
			continue
		}
		content := d.content
		if zip {
			if content, err = compressed(content); err != nil {
				return made{}, err
			}
		}
		source := filepath.Join(work, fmt.Sprint(i))
		if err := temporary(source, content); err != nil {
			return made{}, err
		}
		contents = append(contents, entry(source, place, 0o644, v))
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "iwdissect", Arch: p.arch, Platform: p.system, Version: v.number, VersionSchema: "semver",
		Section: "net", Priority: "optional", Maintainer: "iwdissect maintainers <maintainers@users.noreply.github.com>",
		Description: "Dissects and analyses iWARP traffic\nReads captures of RDMA over TCP or SCTP, annotates every frame, and says which rule\n" +
			"of the RFCs was violated, by whom, in which frame. Captures live, with Wireshark too.",
		Homepage: "https://github.com/iwdissect/iwdissect", License: "Apache-2.0", MTime: v.date,
		Overridables: nfpm.Overridables{Contents: contents, Suggests: []string{"wireshark"}},
	})
	if v.snapshot != "" {
		info.Prerelease, info.VersionMetadata = "snapshot", "g"+v.snapshot
	}
	info.RPM.BuildHost = "localhost"
	info.RPM.Compression, info.Deb.Compression = "gzip:9", "gzip"
	packager, err := nfpm.Get(format)
	if err != nil {
		return made{}, err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return made{}, err
	}
	var b bytes.Buffer
	err = packager.Package(info, &b)
	return made{packager.ConventionalFileName(info), b.Bytes()}, err
}

// entry is a file of a package.
func entry(source, place string, mode os.FileMode, v *version) *files.Content {
	return &files.Content{Source: source, Destination: place, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: v.date}}
}

// temporary writes a file that nobody keeps.
func temporary(name string, content []byte) error {
	return os.WriteFile(name, content, 0o600) //nolint:forbidigo // it is for a temporary folder
}
