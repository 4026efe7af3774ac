/** The only code that moves files into place: complete or not at all. */
export { createFileAtomic, replaceFile, writeFileAtomic, writePartsAtomic } from './atomic-write.ts'
export { Draft } from './draft.ts'
export { ensureFolder } from './ensure-folder.ts'
export { LineWriter } from './line-writer.ts'
export { copyFile, linkOrCopy, moveIntoPlace, swapFolder, syncFolder } from './move.ts'
export { removeLeftovers, temporaryPath } from './temporary-path.ts'
