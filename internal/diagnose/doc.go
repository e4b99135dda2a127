// Package diagnose says in sentences what went wrong on a connection, from the
// facts that the analysis gathered about it. It writes nothing: how a sentence is
// shown is the business of internal/render.
package diagnose
