// Package catalog makes the product catalog for documentation sites: one JSON
// document with everything a client can see of this build, one page in which
// people search it, and the guide for agents that setup installs.
//
// They are made from the contracts compiled into the program and name the exact
// revision they describe; they are made where they are published and never
// checked in. The page needs no server and loads nothing from elsewhere.
package catalog
