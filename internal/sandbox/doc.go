// Package sandbox lets the process give up what it does not need to read captures, before it
// reads the first octet that an attacker may have written. A fault in a decoder then reaches
// the named files and nothing else.
//
// On Linux [Enter] takes away
//
//   - files (Landlock): what is not among those of the [Policy] can neither be opened nor made
//     nor removed, and nothing can be run; TCP, signals and abstract sockets as far as the
//     version of the kernel has them;
//   - system calls (seccomp): new processes, sockets, signals to others, code that is made at
//     run time, and what has to do with the system as a whole;
//   - capabilities, but for those without which a file of the policy could not be opened.
//
// It works for all threads of the process, and cannot be taken back. A kernel that lacks some
// of it gives what it has: the program works everywhere, and [Supported] says what is in force.
// On other systems nothing happens.
package sandbox
