/** The text is not an expression in the small language parsed here, though it may be one to a person. */
export class NotMath extends Error {}
