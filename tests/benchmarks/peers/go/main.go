// Reads a segment with franz-go: every record's key, value, timestamp, offset and headers, and each batch's CRC.
//
//	reader FILE PASSES     a line a pass over the file's bytes in memory: CPU seconds, records, a sum over their fields
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const piece, overhead = 1 << 20, 12

func cpuSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return float64(used.Utime.Sec+used.Stime.Sec) + float64(used.Utime.Usec+used.Stime.Usec)/1e6
}

// wholeBatches returns the bytes of the batches that lie whole in data.
func wholeBatches(data []byte) int {
	at := 0
	for at+overhead <= len(data) {
		size := overhead + int(binary.BigEndian.Uint32(data[at+8:]))
		if at+size > len(data) {
			break
		}
		at += size
	}
	return at
}

func last(data []byte) int64 {
	if len(data) == 0 {
		return 0
	}
	return int64(data[len(data)-1])
}

func read(data []byte, decompressor kgo.Decompressor) (records, sum int64) {
	options := kgo.ProcessFetchPartitionOpts{KeepControlRecords: true, Topic: "orders"}
	for {
		whole := wholeBatches(data[:min(piece, len(data))])
		if whole == 0 {
			whole = wholeBatches(data)
		}
		if whole == 0 {
			return records, sum
		}
		fetched := &kmsg.FetchResponseTopicPartition{RecordBatches: data[:whole]}
		partition, _ := kgo.ProcessFetchPartition(options, fetched, decompressor, nil)
		if partition.Err != nil {
			panic(partition.Err)
		}
		for _, record := range partition.Records {
			records++
			sum += record.Offset + record.Timestamp.UnixMilli()
			sum += int64(len(record.Key)) + last(record.Key) + int64(len(record.Value)) + last(record.Value)
			for _, header := range record.Headers {
				sum += int64(len(header.Key) + len(header.Value))
			}
		}
		data = data[whole:]
	}
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	passes, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	decompressor := kgo.DefaultDecompressor()
	for range passes {
		begun := cpuSeconds()
		records, sum := read(data, decompressor)
		fmt.Printf("%.6f %d %d\n", cpuSeconds()-begun, records, sum)
	}
}
