#ifndef COUNT_H
#define COUNT_H

/* Appends one byte to the file that COUNT_EXECUTIONS names, if it names one. */
void count_execution(void);

#endif
