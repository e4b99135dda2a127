// Package outfile writes the files of the program, so that none is lost by it: an output is
// never one of the inputs, takes its name when all of it is there, and leaves nothing behind
// when it fails or a signal ends the process.
//
//   - [File] is a report, a trace or another file that is worth nothing in part.
//   - [Growing] is one that is read while it grows: it has whole records only.
//   - [Folder] is for many files that are not there yet.
//   - [Pipe] is a named pipe that another program reads.
//
// A device, a named pipe and what is a descriptor of the process, such as /dev/stdout, are
// written to as they are.
package outfile
