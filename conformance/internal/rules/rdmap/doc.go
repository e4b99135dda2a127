// Package rdmap has the rules on RDMAP operations: headers, Read and Atomic Requests and
// their Responses, STags (RFC 5040 and RFC 7306).
package rdmap
