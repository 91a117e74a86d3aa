// Package bridge runs an analysis engine in a process of its own and asks it
// questions over a local socket.
//
// # Place
//
// Every engine process gets a private directory, its place: mode 0700, with the
// socket, the token, and whatever the provider puts there (a copy of the target,
// the script that runs inside the engine, home and configuration). The place
// and everything in it is gone when the engine is.
//
// # Connection
//
// We listen on the socket "s" of the place; a script inside the engine connects
// once, after the engine has analysed the target. Both directions carry frames:
// four bytes of length, big-endian, then so many bytes of UTF-8 JSON, at most
// [MaxFrame]. The script speaks first and says who it is:
//
//	{"protocol":1,"token":"…","engine":"ghidra","version":"12.0","sha256":"…"}
//
// The token is the content of the file "token" of the place. sha256 is the
// digest of the bytes that the engine has imported, in lower-case hexadecimal.
// Nothing is asked of a script whose greeting is not exactly what was expected.
//
// # Questions
//
// One question is open at a time, and the script answers it with any number of
// row frames and one last frame:
//
//	→ {"id":7,"op":"procedures","args":{…}}
//	← {"id":7,"part":"procedures","rows":[…]}
//	← {"id":7,"end":{…}}              or {"id":7,"fail":{"code":"…","message":"…"}}
//
// While it is open we may send {"cancel":7}; the script then ends the answer
// early, with either last frame. {"quit":true} asks the script to end the engine.
// The operations and their rows are described in package facts.
//
// # Start
//
// The first question starts the engine, and the start belongs to those who wait
// for it: it is given up when the last of them gives up, or when it takes longer
// than it may. A start that was given up leaves nothing behind, and the next
// question starts anew. An engine that ends once it was ready is not replaced:
// what it was told is lost, so the target has to be opened again.
package bridge
