// Command rea takes software apart and keeps what was found as evidence.
package main

import (
	"os"

	"rea/cmd/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
