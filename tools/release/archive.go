package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"time"
)

// archived is the archive of a system: a zip for Windows, else a compressed tar.
func archived(p *program, v *version, docs []document) (made, error) {
	folder := fmt.Sprintf("iwdissect_%s_%s_%s", v, p.system, p.arch)
	files := append([]document{{p.fileName(), p.content}}, docs...)
	if p.system == "windows" {
		b, err := zipped(folder, files, v.date)
		return made{folder + ".zip", b}, err
	}
	b, err := tarred(folder, files, v.date)
	if err != nil {
		return made{}, err
	}
	b, err = compressed(b)
	return made{folder + ".tar.gz", b}, err
}

// mode is that of a file: the first one of an archive is the program.
func mode(i int) int64 {
	if i == 0 {
		return 0o755
	}
	return 0o644
}

func tarred(folder string, files []document, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, f := range files {
		h := tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.content)), Mode: mode(i),
			ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipped(folder string, files []document, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		out, err := w.CreateHeader(&zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: date})
		if err != nil {
			return nil, err
		}
		if _, err := out.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
