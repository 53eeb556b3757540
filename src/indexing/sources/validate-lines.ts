import { isValidationError, type ValidationError } from '../projection/change.ts'
import { hasDroppedDocument, parseLines } from './parsed-lines.ts'

/** What the lines of a load are, as far as they tell by themselves. */
export interface ValidationSummary {
  /** Lines that were not blank. */
  read: number
  /** Those that a load would take, unless what is in the index speaks against it. */
  valid: number
  refused: number
  /** Customers' documents that are neither a CPF nor a CNPJ, and would be dropped. */
  customer_documents_dropped: number
}

export interface ValidateOptions {
  /** The first line that is checked, counted from 1. */
  fromLine?: number
  /** Told of every refused line, in their order. */
  onRefused(lineNumber: number, error: ValidationError): void
  /** Told now and then. */
  onProgress(summary: Readonly<ValidationSummary>): void
}

const PROGRESS_LINES = 500

/** Reads and projects NDJSON source orders as a load does, and writes nothing. */
export async function validateLines(
  input: AsyncIterable<Buffer>,
  { fromLine = 1, onRefused, onProgress }: ValidateOptions,
): Promise<ValidationSummary> {
  const summary = { read: 0, valid: 0, refused: 0, customer_documents_dropped: 0 }
  for await (const entry of parseLines(input, fromLine)) {
    summary.read++
    if (isValidationError(entry.result)) {
      summary.refused++
      onRefused(entry.lineNumber, entry.result)
    } else {
      summary.valid++
      if (hasDroppedDocument(entry)) summary.customer_documents_dropped++
    }
    if (summary.read % PROGRESS_LINES === 0) onProgress(summary)
  }
  return summary
}
