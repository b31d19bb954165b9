package contexts

import (
	"strings"
	"testing"
	"time"

	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

// A store promises the same whether its machine is alone or a worker of a cluster. So the
// tests of a store alone run here once more, on stores that are workers. Those of damage are
// left out: the cluster heals it, see [TestEachHealsTheOther].
func TestStoreOfAWorker(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"AppendReturnsWhatIsRead":       TestAppendReturnsWhatIsRead,
		"DamagedLogCountsUpToItsDamage": TestDamagedLogCountsUpToItsDamage,
		"DayLimit":                      TestDayLimit,
		"FalseDescent":                  TestFalseDescent,
		"FileNames":                     TestFileNames,
		"ForeignWriter":                 TestForeignWriter,
		"Fork":                          TestFork,
		"ForkInTheIndex":                TestForkInTheIndex,
		"ForkIsNotTheTasks":             TestForkIsNotTheTasks,
		"ForkOfAFork":                   TestForkOfAFork,
		"ForkOfDamage":                  TestForkOfDamage,
		"HandsInTheStore":               TestHandsInTheStore,
		"InterruptedCallsCount":         TestInterruptedCallsCount,
		"KeysWithoutCase":               TestKeysWithoutCase,
		"Known":                         TestKnown,
		"LayoutIsPrivate":               TestLayoutIsPrivate,
		"LedgerIsRebuiltFromLogs":       TestLedgerIsRebuiltFromLogs,
		"LinkedDirectoryWhileOpen":      TestLinkedDirectoryWhileOpen,
		"ListAndFind":                   TestListAndFind,
		"Live":                          TestLive,
		"NotesAtOnce":                   TestNotesAtOnce,
		"ObjectsFollowTheirContext":     TestObjectsFollowTheirContext,
		"ReadOnlyStoreWritesNoNotes":    TestReadOnlyStoreWritesNoNotes,
		"ReadersSeeAroundTrouble":       TestReadersSeeAroundTrouble,
		"RebuiltWithoutTheLost":         TestRebuiltWithoutTheLost,
		"RepairAheadOfItsLog":           TestRepairAheadOfItsLog,
		"RepairFork":                    TestRepairFork,
		"RepairOfNewerLog":              TestRepairOfNewerLog,
		"ScanKeepsTheLatest":            TestScanKeepsTheLatest,
		"SeedIndex":                     TestSeedIndex,
		"Seen":                          TestSeen,
		"Signals":                       TestSignals,
		"SpendAtOnce":                   TestSpendAtOnce,
		"SpendCountsEachCallOnce":       TestSpendCountsEachCallOnce,
		"SpendMany":                     TestSpendMany,
		"StoreRemoved":                  TestStoreRemoved,
		"Sweep":                         TestSweep,
		"TwoCopies":                     TestTwoCopies,
		"VisitError":                    TestVisitError,
		"WrongDirectoryIsCorrected":     TestWrongDirectoryIsCorrected,
	} {
		t.Run(name, test)
	}
}

// asWorker joins a cluster of its own where a test runs in [TestStoreOfAWorker].
func asWorker(t *testing.T, o Options) Options {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestStoreOfAWorker/") || o.ReadOnly {
		return o
	}
	bus := clustertest.New().Join()
	m, err := cluster.Join(t.Context(), bus, cluster.Options{Info: cluster.Info{Worker: t.Name(), Capacity: 1}, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	o.Bus, o.Member = bus, m
	return o
}
