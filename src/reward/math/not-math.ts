/** The text is no expression of the small language read here; whether it is one to a person is unknown. */
export class NotMath extends Error {}
