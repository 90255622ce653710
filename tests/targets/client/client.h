/* What the programs of this folder have in common: a port, and sockets at it. The port is not reused: no option asks for that. */
#ifndef CLIENT_H
#define CLIENT_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 4711 };

static struct sockaddr_in address(void)
{
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(PORT);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int checked(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(2);
    }
    return result;
}

/* A socket that listens. */
static inline int listening(void)
{
    struct sockaddr_in at = address();
    int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(bind(listener, (struct sockaddr *)&at, sizeof at), "bind");
    checked(listen(listener, 8), "listen");
    return listener;
}

/* A connection to it. */
static inline int connected(void)
{
    struct sockaddr_in to = address();
    int connection = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(connect(connection, (struct sockaddr *)&to, sizeof to), "connect");
    return connection;
}

#endif
