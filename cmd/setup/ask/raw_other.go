//go:build !linux && !darwin

package ask

import (
	"errors"
	"os"
)

func canRaw(*os.File) bool { return false }

func raw(*os.File) (func(), error) { return nil, errors.ErrUnsupported }
