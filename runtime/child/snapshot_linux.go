package child

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxDescendants bounds what is followed of a tree that grows while one looks.
const maxDescendants = 10_000

// snapshot reads /proc. A process that is gone when it is its turn is left out.
func snapshot(pid int) (Snapshot, error) {
	parent, group, err := stat(pid)
	if err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s := Snapshot{PID: pid, Parent: parent, Group: group, Descendants: []int{}}
	for queue := []int{pid}; len(queue) > 0 && len(s.Descendants) < maxDescendants; queue = queue[1:] {
		for _, id := range children(queue[0]) {
			if !slices.Contains(s.Descendants, id) {
				s.Descendants = append(s.Descendants, id)
				queue = append(queue, id)
			}
		}
	}
	slices.Sort(s.Descendants)
	return s, nil
}

// stat reads parent and group from /proc/<pid>/stat. The command name in it is
// in parentheses and may hold anything, parentheses included.
func stat(pid int) (parent, group int, err error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 3 {
		return 0, 0, fmt.Errorf("/proc/%d/stat is incomplete", pid)
	}
	if parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return 0, 0, err
	}
	group, err = strconv.Atoi(string(fields[2]))
	return parent, group, err
}

func children(pid int) []int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var ids []int
	for _, task := range tasks {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(list)) {
			if id, err := strconv.Atoi(field); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
