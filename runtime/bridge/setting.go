package bridge

import (
	"math"
	"strconv"
	"time"

	"rea/generated/fault"
)

// ParseTimeout reads a setting in milliseconds: a decimal integer from 1 to
// 2147483647, nothing around it. "" is fallback; anything else is a
// configuration_invalid fault.
func ParseTimeout(name, value string, fallback time.Duration) (time.Duration, error) {
	if value == "" {
		return fallback, nil
	}
	ms := int64(0)
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			ms = 0
			break
		}
		if ms = ms*10 + int64(c-'0'); ms > math.MaxInt32 {
			break
		}
	}
	if ms < 1 || ms > math.MaxInt32 {
		return 0, fault.ConfigurationInvalid(fault.ConfigurationInvalidDetails{
			Name: name, Value: value, Expected: "a decimal integer of milliseconds from 1 to " + strconv.Itoa(math.MaxInt32),
		}, nil)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
