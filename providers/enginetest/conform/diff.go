package conform

import (
	"fmt"
	"reflect"
)

// diff shows where two values differ first; "" when they do not.
func diff(a, b any) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.Slice && y.Kind() == reflect.Slice {
		for i := range min(x.Len(), y.Len()) {
			if !reflect.DeepEqual(x.Index(i).Interface(), y.Index(i).Interface()) {
				return fmt.Sprintf("row %d is %+v and %+v", i, x.Index(i).Interface(), y.Index(i).Interface())
			}
		}
		return fmt.Sprintf("%d rows and %d", x.Len(), y.Len())
	}
	return fmt.Sprintf("%+v and %+v", a, b)
}
