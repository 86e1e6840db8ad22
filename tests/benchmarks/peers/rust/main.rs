// Reads a segment with kafka-protocol: every record's key, value, timestamp, offset and headers, and each batch's CRC.
//
//     reader FILE PASSES     a line a pass over the file's bytes in memory: CPU seconds, records, a sum over their fields

use bytes::{Buf, Bytes};
use kafka_protocol::records::RecordBatchDecoder;
use std::{env, fs};

const OVERHEAD: usize = 12;

fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Bytes of the batch that begins here; None where it is not whole.
fn whole_batch(data: &[u8]) -> Option<usize> {
    let length = data.get(8..OVERHEAD)?;
    let size = OVERHEAD + u32::from_be_bytes(length.try_into().unwrap()) as usize;
    (size <= data.len()).then_some(size)
}

fn read(mut data: Bytes) -> (u64, i64) {
    let (mut records, mut sum) = (0, 0i64);
    while let Some(size) = whole_batch(&data) {
        let set = RecordBatchDecoder::decode(&mut data.slice(..size)).unwrap();
        for record in &set.records {
            records += 1;
            sum = sum.wrapping_add(record.offset).wrapping_add(record.timestamp);
            for part in [&record.key, &record.value].into_iter().flatten() {
                sum += part.len() as i64 + part.last().map_or(0, |last| *last as i64);
            }
            for (name, value) in &record.headers {
                sum += name.len() as i64 + value.as_ref().map_or(0, |value| value.len() as i64);
            }
        }
        data.advance(size);
    }
    (records, sum)
}

fn main() {
    let given: Vec<String> = env::args().collect();
    let data = Bytes::from(fs::read(&given[1]).unwrap());
    for _ in 0..given[2].parse().unwrap() {
        let begun = cpu_seconds();
        let (records, sum) = read(data.clone());
        println!("{:.6} {} {}", cpu_seconds() - begun, records, sum);
    }
}
