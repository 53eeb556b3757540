import { isValidationError, type ValidationError } from '../projection/change.ts'
import { hasDroppedDocument, parseLines } from './ndjson.ts'

/** The counts of a validation without an index. */
export interface ValidationSummary {
  /** Lines that were not blank. */
  read: number
  /** Lines that a load would accept, unless the index has a conflicting version. */
  valid: number
  refused: number
  /** Customers' documents that a load would drop: neither a CPF nor a CNPJ. */
  customer_documents_dropped: number
}

export interface ValidateOptions {
  /** The first line to check, counted from 1. */
  fromLine?: number
  /** Called for each rejected line, in their order. */
  onRejected(lineNumber: number, error: ValidationError): void
  /** Called periodically. */
  onProgress(summary: Readonly<ValidationSummary>): void
}

const PROGRESS_LINES = 500

/** Parses and projects NDJSON source orders like a load, and writes nothing. */
export async function validateLines(
  input: AsyncIterable<Buffer>,
  { fromLine = 1, onRejected, onProgress }: ValidateOptions,
): Promise<ValidationSummary> {
  const summary = { read: 0, valid: 0, refused: 0, customer_documents_dropped: 0 }
  for await (const group of parseLines(input, fromLine)) {
    for (const entry of group) {
      summary.read++
      if (isValidationError(entry.result)) {
        summary.refused++
        onRejected(entry.lineNumber, entry.result)
      } else {
        summary.valid++
        if (hasDroppedDocument(entry)) summary.customer_documents_dropped++
      }
      if (summary.read % PROGRESS_LINES === 0) onProgress(summary)
    }
  }
  return summary
}
