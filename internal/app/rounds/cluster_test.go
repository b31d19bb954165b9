package rounds

import (
	"reflect"
	"testing"

	"agent/forge"
)

// An item has one job in the queue, and a second one only when it became the first of its repository
// or urgent.
func TestLanes(t *testing.T) {
	task := func(project string, number int, labels ...string) forge.Task {
		return forge.Task{Key: forge.TaskKey{Host: "h", Project: project, Number: number}, Labels: labels}
	}
	var lanes map[forge.TaskKey]int
	for n, step := range []struct {
		tasks []forge.Task
		want  []int
	}{
		{[]forge.Task{task("a", 1), task("a", 2), task("a", 3), task("b", 1)}, []int{1, 2, 3, 1}},
		{[]forge.Task{task("a", 2), task("a", 3), task("b", 1)}, []int{1, 3, 1}},           // 3 is the second now, and waits where it is
		{[]forge.Task{task("a", 3), task("a", 4), task("b", 1, "urgent")}, []int{1, 2, 0}}, // each is what it became
		{[]forge.Task{task("a", 4), task("a", 2), task("b", 1)}, []int{1, 2, 1}},           // what was gone begins anew
	} {
		lanes = lanesOf(step.tasks, []string{"urgent"}, lanes)
		var got []int
		for _, task := range step.tasks {
			got = append(got, lanes[task.Key])
		}
		if !reflect.DeepEqual(got, step.want) || len(lanes) != len(step.tasks) {
			t.Errorf("step %d: lanes %v, want %v", n+1, got, step.want)
		}
	}
}
