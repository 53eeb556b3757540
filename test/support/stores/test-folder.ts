import { onTestFinished } from 'vitest'
import { temporaryFolder } from './backend.ts'

/** Creates an empty folder for the test that runs or begins. It is removed after `afterEach`. */
export function createTestFolder(): string {
  const { folder, remove } = temporaryFolder()
  onTestFinished(remove)
  return folder
}
