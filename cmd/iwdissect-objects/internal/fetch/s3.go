package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
)

// s3client speaks with one endpoint.
type s3client struct {
	opt      minio.Options
	endpoint string
	// unsigned: there are no credentials.
	unsigned bool

	mu      sync.Mutex
	regions map[string]*minio.Client // by region
	homes   map[string]string        // the regions of buckets, as far as servers told them
}

// awsEndpoint is that of Amazon.
const awsEndpoint = "s3.amazonaws.com"

// s3client makes the client when the first URL of s3 is met.
func (c *Client) s3client(ctx context.Context) (*s3client, error) {
	c.s3once.Do(func() { c.s3, c.s3err = newS3(ctx, c.opt.Transport) })
	return c.s3, c.s3err
}

func newS3(ctx context.Context, t http.RoundTripper) (*s3client, error) {
	creds, unsigned, err := s3credentials(ctx, &http.Client{Transport: t, Timeout: roleTime})
	if err != nil {
		return nil, err
	}
	s := &s3client{unsigned: unsigned, endpoint: awsEndpoint, regions: map[string]*minio.Client{}, homes: map[string]string{}}
	s.opt = minio.Options{Creds: creds, Secure: true, Transport: t, MaxRetries: 1, Region: setting("AWS_REGION", "AWS_DEFAULT_REGION")}
	if e := setting("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"); e != "" {
		u, err := url.Parse(e)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
			return nil, errors.New("AWS_ENDPOINT_URL takes https://HOST, or http://HOST without encryption")
		}
		s.endpoint, s.opt.Secure = u.Host, u.Scheme == "https"
	}
	return s, nil
}

// setting is the first of these variables of the environment that is set.
func setting(names ...string) string {
	for _, n := range names {
		if v := os.Getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// client is that for the region of a bucket.
func (s *s3client) client(bucket string) (*minio.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opt := s.opt
	if home := s.homes[bucket]; home != "" {
		opt.Region = home
	}
	if c := s.regions[opt.Region]; c != nil {
		return c, nil
	}
	c, err := minio.New(s.endpoint, &opt)
	if err == nil {
		s.regions[opt.Region] = c
	}
	return c, err
}

// moved reports whether an error tells the region of a bucket, which was not known.
func (s *s3client) moved(bucket string, err error) bool {
	home := minio.ToErrorResponse(err).Region
	s.mu.Lock()
	defer s.mu.Unlock()
	if home == "" || len(home) > 64 || s.homes[bucket] != "" || home == s.opt.Region {
		return false
	}
	s.homes[bucket] = home
	return true
}

// s3object is an object of a bucket.
type s3object struct {
	s           *s3client
	bucket, key string
}

func (o *s3object) get(ctx context.Context, from, n int64, v version) (*part, error) {
	p, err := o.once(ctx, from, n, v)
	if err != nil && o.s.moved(o.bucket, err) {
		p, err = o.once(ctx, from, n, v)
	}
	return p, err
}

func (o *s3object) once(ctx context.Context, from, n int64, v version) (*part, error) {
	c, err := o.s.client(o.bucket)
	if err != nil {
		return nil, err
	}
	var opt minio.GetObjectOptions
	if err := opt.SetRange(from, from+n-1); err != nil {
		return nil, err
	}
	if v.strong() {
		if err := opt.SetMatchETag(v.etag); err != nil {
			return nil, err
		}
	}
	body, info, header, err := minio.Core{Client: c}.GetObject(ctx, o.bucket, o.key, opt)
	if err != nil {
		return nil, o.s.told(err)
	}
	p := &part{body: body, n: info.Size, version: version{etag: unquoted(header.Get("ETag")), modified: header.Get("Last-Modified")}}
	if r := header.Get("Content-Range"); r != "" {
		err = p.ranged(r)
	} else {
		p.whole, p.version.size = true, info.Size
	}
	if err != nil {
		_ = body.Close()
		return nil, err
	}
	return p, nil
}

// told is an error of a server. It keeps its type.
func (s *s3client) told(err error) error {
	r := minio.ToErrorResponse(err)
	switch {
	case r.StatusCode == http.StatusPreconditionFailed:
		return errChanged
	case r.StatusCode == http.StatusForbidden && s.unsigned:
		return &unsignedError{err}
	}
	return bare(err)
}

// unsignedError is the refusal of a request without a signature.
type unsignedError struct{ error }

func (e *unsignedError) Unwrap() error { return e.error }

// captureName matches the keys of captures, those of rings of tcpdump included, and those whose
// compression is not read: it is an error that they are not looked at.
var captureName = regexp.MustCompile(`(?i)\.(pcap|pcapng|cap)[0-9]*(\.(gz|bz2|zst|lz4|xz|lzma|lz|lzo|br|z|7z|zip|rar|tar|gzip|bzip2|zstd))*$`)

// mostObjects is how many a prefix may stand for.
const mostObjects = 100_000

// below are the objects that an address stands for.
func (c *Client) below(ctx context.Context, s *s3client, a address) ([]*target, error) {
	if !a.folder && !a.pattern {
		t := &target{name: a.name, store: &s3object{s, a.bucket, a.key}}
		t.mu.Lock()
		_, stream, err := c.first(ctx, t)
		t.mu.Unlock()
		if stream != nil {
			_ = stream.Close()
		}
		var r minio.ErrorResponse
		if !errors.As(err, &r) || r.Code != minio.NoSuchKey {
			return []*target{t}, nil // another error is told when it is opened
		}
		a.folder, a.key = true, a.key+"/"
		found, others, err := c.listed(ctx, s, a)
		if err != nil || len(found)+others == 0 {
			return []*target{t}, nil
		}
		return found, nil
	}
	found, others, err := c.listed(ctx, s, a)
	if err == nil && len(found) == 0 {
		err = errors.New("there are no objects whose keys begin so")
		if others > 0 {
			err = fmt.Errorf("none of the %d objects has the name of a capture; %s* takes all of them", others, a.name)
		}
	}
	return found, err
}

// listed lists the objects whose keys begin as the address says, and counts those that have no
// names of captures.
func (c *Client) listed(ctx context.Context, s *s3client, a address) (found []*target, others int, err error) {
	last := ""
	err = c.again(ctx, func() (bool, error) {
		client, err := s.client(a.bucket)
		if err != nil {
			return false, err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		further := false
		for info := range client.ListObjects(ctx, a.bucket, minio.ListObjectsOptions{Prefix: a.key, Recursive: true, StartAfter: last}) {
			if info.Err != nil {
				return s.moved(a.bucket, info.Err) || further, s.told(info.Err)
			}
			further, last = true, info.Key
			if !a.takes(info.Key) {
				others++
				continue
			}
			if len(found) == mostObjects {
				return false, fmt.Errorf("more than %d objects: name fewer of them", mostObjects)
			}
			t := &target{name: "s3://" + a.bucket + "/" + info.Key, store: &s3object{s, a.bucket, info.Key}}
			t.size = info.Size
			found = append(found, t)
		}
		return true, nil
	})
	return found, others, err
}

// takes reports whether an object is one of those that are meant.
func (a address) takes(key string) bool {
	if strings.HasSuffix(key, "/") {
		return false // stands for a folder
	}
	if a.pattern {
		return true
	}
	return captureName.MatchString(key) && !strings.HasPrefix(path.Base(key), ".")
}

// explained says what an error of a server means, in few words of its own.
func explained(err error) error {
	var unsigned *unsignedError
	var r minio.ErrorResponse
	switch {
	case !errors.As(err, &r):
		return err
	case errors.As(err, &unsigned):
		return fmt.Errorf("access denied: no credentials were found in the environment, a profile or a role of the machine, and without them the server answers %.60s", r.Code)
	}
	switch r.Code {
	case minio.NoSuchKey:
		return fmt.Errorf("there is no such object: %w", short{r})
	case minio.NoSuchBucket:
		return fmt.Errorf("there is no such bucket: %w", short{r})
	}
	if r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("access denied: %w", short{r})
	}
	return short{r}
}

// short is an error of a server in so many octets at most.
type short struct{ minio.ErrorResponse }

func (s short) Error() string {
	if s.Message == "" {
		return fmt.Sprintf("%.60s", s.Code)
	}
	return fmt.Sprintf("%.60s: %.200s", s.Code, s.Message)
}

func (s short) Unwrap() error { return s.ErrorResponse }
