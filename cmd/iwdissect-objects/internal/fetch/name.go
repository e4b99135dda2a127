package fetch

import (
	"errors"
	"net/url"
	"strings"
)

// address says what a URL leads to.
type address struct {
	// name is the URL without what may be secret: user, password and query.
	name string
	// bucket and key are those of s3. With folder or pattern the key is the beginning of keys.
	bucket, key     string
	folder, pattern bool
	// web is a URL of https, with what may be secret.
	web *url.URL
}

// Name is a URL without what may be secret.
func Name(raw string) string {
	a, err := parse(raw)
	if err != nil && a.name == "" {
		return "a URL that cannot be read"
	}
	return a.name
}

// parse reads a URL. A key of s3 stands in it as it is, without escapes.
func parse(raw string) (address, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	if strings.ToLower(scheme) == "s3" {
		return parseS3(rest)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, errors.New("not a URL") // err quotes it, with what may be secret
	}
	u.Fragment, u.RawFragment = "", ""
	bare := *u
	bare.User, bare.RawQuery, bare.ForceQuery = nil, "", false
	a := address{name: bare.String(), web: u}
	switch {
	case u.Scheme != "https":
		return a, errors.New("only https, not http: without encryption nobody knows who wrote the capture; fetch it with another program, and pipe it in with -")
	case u.Hostname() == "":
		return a, errors.New("the URL has no host")
	}
	return a, nil
}

func parseS3(rest string) (address, error) {
	bucket, key, _ := strings.Cut(rest, "/")
	a := address{name: "s3://" + rest, bucket: bucket, key: key}
	if at := strings.LastIndex(bucket, "@"); at >= 0 {
		a.name = "s3://" + rest[at+1:]
		return a, errors.New("credentials do not go into the URL: they come from the environment or a profile")
	}
	if bucket == "" {
		return a, errors.New("the URL has no bucket: s3://BUCKET/KEY")
	}
	a.folder = key == "" || strings.HasSuffix(key, "/")
	if start, ok := strings.CutSuffix(key, "*"); ok {
		a.pattern, a.key = true, start
	}
	return a, nil
}
