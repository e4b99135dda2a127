package fetch

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// roleTime is how long the service that gives the credentials of a role may take.
const roleTime = 5 * time.Second

// s3credentials finds credentials as other programs for S3 do: those of the environment, of a
// profile, of the role of a container or machine. unsigned: there are none, and requests go
// without a signature, as public buckets allow.
func s3credentials(ctx context.Context, client *http.Client) (creds *credentials.Credentials, unsigned bool, err error) {
	if os.Getenv("AWS_PROFILE") != "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		creds = credentials.New(&profile{name: os.Getenv("AWS_PROFILE")})
		_, err = creds.GetWithContext(&credentials.CredContext{Client: client})
		return creds, false, err
	}
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if hasRole(ctx, client) {
		chain = append(chain, &credentials.IAM{Client: client})
	}
	creds = credentials.NewChainCredentials(chain)
	v, err := creds.GetWithContext(&credentials.CredContext{Client: client})
	if err != nil || v.AccessKeyID == "" {
		// Asked once: a machine without a role would be asked before each request.
		return credentials.NewStaticV4("", "", ""), true, nil //nolint:nilerr // told if the server refuses
	}
	return creds, false, nil
}

// profile is one that was named: if it gives no credentials, others must not take their place.
type profile struct {
	credentials.FileAWSCredentials
	name string
}

// RetrieveWithCredContext reads it.
func (p *profile) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := p.FileAWSCredentials.RetrieveWithCredContext(cc)
	if err == nil && v.AccessKeyID == "" {
		err = fmt.Errorf("it has no keys; of a role of another account, export them: aws configure export-credentials --format env")
	}
	if err != nil {
		err = fmt.Errorf("the profile %s of AWS_PROFILE: %w", p.name, err)
	}
	return v, err
}

// hasRole reports whether something may give the credentials of a role.
func hasRole(ctx context.Context, client *http.Client) bool {
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") == "true" || setting("AWS_ACCESS_KEY_ID") != "" {
		return false
	}
	// A machine elsewhere has nobody at this address, and would wait for long.
	ctx, cancel := context.WithTimeout(ctx, metadataTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, metadata, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

const (
	metadata     = "http://169.254.169.254/"
	metadataTime = time.Second
)
