//go:build !unix

package inventory

const noFollow = 0
